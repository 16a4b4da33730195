import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Indexing")
struct IndexingTests {
    @Test func aDamagedNoteDoesNotPreventTheIndexingOfOtherAccounts() async throws {
        let folder = Folder()
        let store = try SQLiteStore(folder: folder.url)
        let first = try await TestClient(store)
        try await first.push(first.note(.random(), "Milk"))
        let second = try await TestClient(store, email: "bob@example.com")
        try await second.push(second.note(.random(), "Bread"))
        try await store.onWriter {
            try $0.execute(
                sql: "UPDATE objects SET body = '{' WHERE section = 0 AND scope = ?", arguments: [first.scope.rawValue])
        }
        await #expect(throws: (any Error).self) { _ = try await TermIndexer(store: store).step() }
        let (damaged, other) = try await store.read {
            (try $0.indexedSequence(of: first.scope), try $0.indexedSequence(of: second.scope))
        }
        #expect(damaged == 0)
        #expect(other > 0)
        try store.close()
    }
}
