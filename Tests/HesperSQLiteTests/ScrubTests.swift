import Foundation
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

/// Removal of an erased account's text from the database files.
@Suite struct ScrubTests {
    private let folder = Folder()

    /// Counts occurrences of the words in the database files, also without their first letter, because an index stores a common
    /// prefix of two words only once.
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
        #expect(try count(ScrubTests.words) > 0, "the test requires text to scrub")
        try await store.scrub()
        #expect(try count(ScrubTests.words) == 0)
        try store.close()
        #expect(try count(ScrubTests.words) == 0)
    }

    /// A long read prevents the truncation of the log, which is reported. Without anything to do, scrubbing takes no time.
    @Test func scrubbingFailsDuringALongRead() async throws {
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
