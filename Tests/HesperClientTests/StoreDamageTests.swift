import Foundation
import GRDB
import HesperClient
import HesperModel
import Testing

@Suite("Store: a full disk, a damaged file") struct StoreDamageTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    @Test func aFullDiskIsReportedAndLosesNothing() async throws {
        let store = try await temporary.open()
        let note = try await store.insert(HesperClient.Note(text: "Milk"))
        try await store.database.writer.writeWithoutTransaction { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages + 1)")
        }
        let long = MergedText(String(repeating: "word ", count: 10_000))
        await #expect(throws: StoreError.diskFull) { try await store.insert(HesperClient.Note(text: long)) }
        #expect(try await store.get(note.id) == note)
        try await store.database.writer.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA max_page_count = 1000000")
        }
        try await store.insert(HesperClient.Note(text: long))
        #expect(try await store.count(HesperClient.Note.self) == 2)
    }

    @Test func whatIsUnsentIsSavedFromADamagedFile() async throws {
        let soup: Recipe
        let copy = temporary.folder.appending(path: "copy.sqlite")
        do {
            let store = try await temporary.open()
            soup = try await store.insert(Recipe(title: "Soup"))
            try await store.write { tx in
                for number in 0..<400 { try tx.insert(HesperClient.Note(text: "note \(number)")) }
            }
            try await store.delete(soup.id)
            // A copy without a write-ahead log.
            try await store.database.writer.writeWithoutTransaction {
                try $0.execute(sql: "VACUUM INTO ?", arguments: [copy.path])
            }
        }
        let unsent = temporary.folder.appending(path: "unsent.jsonl")
        #expect(try LocalStore.saveUnsent(in: copy, to: unsent) == 402)
        let lines = try String(contentsOf: unsent, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.contains(#"{"type":"recipe","id":"\#(soup.id)","deleted":true}"#))
        #expect(lines.contains { $0.contains(#""attributes.title":"Soup""#) })

        // Overwrites the page of the 200th note.
        var bytes = try Data(contentsOf: copy)
        let found = try #require(bytes.range(of: Data("note 200\"".utf8)))
        let page = found.lowerBound / 4_096 * 4_096
        bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xff, count: 4_096))
        try bytes.write(to: copy)
        let saved = try LocalStore.saveUnsent(in: copy, to: unsent)
        #expect(saved > 200 && saved < 402)
    }

    @Test func savingWhatIsUnsentWaitsForALockOnTheFile() async throws {
        let copy = temporary.folder.appending(path: "copy.sqlite")
        let store = try await temporary.open()
        try await store.insert(HesperClient.Note(text: "Milk"))
        try await store.database.writer.writeWithoutTransaction {
            try $0.execute(sql: "VACUUM INTO ?", arguments: [copy.path])
        }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: copy.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let unsent = temporary.folder.appending(path: "unsent.jsonl")
        // On a thread of its own, because the tests of other suites may occupy the threads of the concurrency pool for long.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.1)  // so that it meets the lock
            try? other.close()
        }
        #expect(try LocalStore.saveUnsent(in: copy, to: unsent) == 1)
    }

    private func database() throws -> DatabaseQueue { try DatabaseQueue(path: temporary.file.path) }

    @Test func aFileThatCannotBeOpenedIsUnavailable() async throws {
        let file = temporary.folder.appending(path: "missing/store.sqlite")
        let memory = FolderMemory(folder: temporary.folder.appending(path: "state"))
        await #expect(throws: StoreError.unavailable("unable to open database file")) {
            try await LocalStore(at: file, memory, [])
        }
    }

    @Test func aFileOfALaterVersionIsRefused() async throws {
        _ = try await temporary.open()
        try await database().writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 1000") }
        let memory = FolderMemory(folder: temporary.folder.appending(path: "state"))
        await #expect(throws: StoreError.newerVersion) { try await LocalStore(at: temporary.file, memory, []) }
    }
}
