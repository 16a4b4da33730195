import GRDB
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

    /// A statement that runs in a savepoint makes FTS5 write the pending terms. If each note ran one, each note would get a segment
    /// of its own.
    @Test func aTransactionWritesItsTermsAtOnce() async throws {
        let folder = Folder()
        let store = try SQLiteStore(folder: folder.url)
        let client = try await TestClient(store)
        for text in ["Milk", "Bread", "Tea"] { try await client.push(client.note(.random(), text)) }
        #expect(try await store.write { try $0.indexTerms(of: client.scope, limit: 100) })
        let segments = try await store.onWriter {
            try Int.fetchOne($0, sql: "SELECT count(DISTINCT segid) FROM terms_idx")
        }
        #expect(segments == 1)
        try store.close()
    }
}
