import Foundation
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Commits of other processes")
struct OtherProcessesTests {
    private let folder = Folder()

    @Test("Commits of others are reported once, and the store's own are not")
    func noticed() async throws {
        let (store, other) = (try SQLiteStore(folder: folder.url), try SQLiteStore(folder: folder.url))
        _ = try await store.otherProcessesHaveCommitted()
        #expect(try await store.otherProcessesHaveCommitted() == false)
        let desk = try await TestClient(store)
        #expect(try await store.otherProcessesHaveCommitted() == false)
        try await other.write { transaction in
            _ = try transaction.insertAccount(
                .random(), email: "other@example.org", passwordHash: "", creationDate: TestClient.now)
        }
        #expect(try await store.otherProcessesHaveCommitted())
        #expect(try await store.otherProcessesHaveCommitted() == false)
        _ = try await desk.pushNoteAndTag()
        #expect(try await store.otherProcessesHaveCommitted() == false)
        #expect(try await other.otherProcessesHaveCommitted())
    }

    @Test("Listeners are notified, and those whose device or account was deleted are signed out")
    func heard() async throws {
        let (store, other) = (try SQLiteStore(folder: folder.url), try SQLiteStore(folder: folder.url))
        let desk = try await TestClient(store)
        let (_, _) = try await desk.pushNoteAndTag()
        let hub = EventHub()
        let known = try hub.listen(to: desk.scope, as: desk.node, ping: 20)
        let unknown = try hub.listen(to: desk.scope, as: .random(), ping: 20)
        let nowhere = try hub.listen(to: ScopeID(1_000), as: desk.node, ping: 20)
        try await hub.refresh(from: other)
        #expect(await known.next().sequence == 2)
        #expect(known.endReason == nil)
        #expect(unknown.endReason == .signedOut)
        #expect(nowhere.endReason == .signedOut)
    }
}
