import Foundation
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

/// What an erased account leaves in the files.
@Suite struct ScrubTests {
    private let folder = Folder()

    /// How often the words stand in the files of the database, whole or but for their first letter: an index writes what two
    /// words begin with once.
    private func count(_ words: [String]) throws -> Int {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(SQLiteStore.fileName) }
            .map { try Data(contentsOf: $0) }
            .reduce(0) { sum, data in
                sum + words.reduce(0) { $0 + (data.range(of: Data($1.dropFirst().utf8)) == nil ? 0 : 1) }
            }
    }

    private static let words = ["xylophonequagga", "unicornzebra"]

    private func write(_ desk: TestClient, in store: SQLiteStore) async throws {
        for number in 0..<200 {
            try await desk.push(desk.note(.random(), "\(ScrubTests.words[number % 2]) \(number)"))
        }
        let scope = desk.scope
        while try await !store.write({ try $0.indexTerms(of: scope, limit: 50) }) {}
    }

    @Test func scrubbingRemovesErasedTextFromAllFiles() async throws {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        try await write(desk, in: store)
        #expect(try count(ScrubTests.words) > 0)
        let id = desk.account.uniqueID
        try await store.write { try $0.deleteAccount(id) }
        #expect(try count(ScrubTests.words) > 0, "or there is nothing to scrub")
        try await store.scrub()
        #expect(try count(ScrubTests.words) == 0)
        try store.close()
        #expect(try count(ScrubTests.words) == 0)
    }

    /// What is open for long holds it up, and it says so; what has nothing to do takes no time.
    @Test func aReaderHoldsItUp() async throws {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        try await write(desk, in: store)
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        async let reading: Void = store.read { snapshot in
            _ = try snapshot.accounts()
            enter.yield()
            gate.wait()
        }
        for await _ in entered { break }
        try await desk.push(desk.note(.random(), "more"))
        await #expect(throws: StoreError.self) { try await store.scrub(attempts: 2) }
        gate.signal()
        try await reading
        try await store.scrub()
        try store.close()
    }
}
