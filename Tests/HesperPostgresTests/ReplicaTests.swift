import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperPostgres

/// A copy of the database stands for a standby that has stopped to follow; the database itself for one that is never behind.
@Suite("Replica", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct ReplicaTests {
    /// Does `body` with a store and its replica, which is the same database unless another is named.
    private func withReplica(
        of stores: Stores, at settings: PostgresSettings? = nil,
        log: (@Sendable (String) -> Void)? = nil,
        _ body: @Sendable (PostgresStore, any Replica) async throws -> Void
    ) async throws {
        var replica = settings ?? stores.database.settings
        replica.size = 2
        let store = try await stores.open(replica: replica, log: log)
        try await body(store, try #require(store.replica))
    }

    private static func ids(_ replica: any Replica, at head: ScopeHead, indexed: Bool = false) async throws
        -> [UniqueID]?
    {
        try await replica.read(at: head, indexed: indexed) { snapshot in
            var ids: [UniqueID] = []
            let scan = Scan(.all, rows: .all, sequences: 0...head.sequence, newestFirst: false)
            try snapshot.scan(scan, in: head.scope) { row in
                if let id = row.id() { ids.append(id) }
                return true
            }
            return ids
        }
    }

    @Test("It answers where the scope stands there as it stands here, and nowhere else")
    func stands() async throws {
        try await Stores.with { stores in
            try await withReplica(of: stores) { store, replica in
                let desk = try await SmallDesk(store)
                let empty = try await desk.head()
                #expect(try await ReplicaTests.ids(replica, at: empty) == [])
                let (note, tag) = try await desk.pushNoteAndTag()
                let head = try await desk.head()
                #expect(try await ReplicaTests.ids(replica, at: head).map(Set.init) == [note, tag])
                // Behind, ahead, elsewhere, or nowhere.
                let others = [
                    empty, ScopeHead(scope: head.scope, sequence: head.sequence + 1, digest: head.digest),
                    ScopeHead(scope: head.scope, sequence: head.sequence, digest: empty.digest),
                    ScopeHead(scope: ScopeID(99), sequence: head.sequence, digest: head.digest),
                ]
                for other in others { #expect(try await ReplicaTests.ids(replica, at: other) == nil) }
                #expect(try await ReplicaTests.ids(replica, at: head) != nil)
            }
        }
    }

    @Test("A search waits for no index: it is answered where that is filled")
    func index() async throws {
        try await Stores.with { stores in
            try await withReplica(of: stores) { store, replica in
                let desk = try await SmallDesk(store)
                try await desk.push(desk.note(.random(), "Milk"), desk.note(.random(), "Bread"))
                let head = try await desk.head()
                #expect(try await ReplicaTests.ids(replica, at: head, indexed: true) == nil)
                try await TermIndexer(store: store).index(head.scope, upTo: head.sequence)
                #expect(try await ReplicaTests.ids(replica, at: head, indexed: true)?.count == 2)
            }
        }
    }

    @Test("Nothing can be written on its connections")
    func readOnly() async throws {
        try await Stores.with { stores in
            try await withReplica(of: stores) { store, replica in
                let desk = try await SmallDesk(store)
                let settings = try await replica.read(at: try await desk.head(), indexed: false) { snapshot in
                    let connection = try #require((snapshot as? PostgresSnapshot)?.connection)
                    return try ["default_transaction_read_only", "transaction_read_only", "application_name"].map {
                        name in
                        try connection.first("SELECT current_setting($1)", [.text(name)]) { $0.string(0) }
                    }
                }
                #expect(settings == ["on", "on", "hesper-read"])
            }
        }
    }

    @Test(
        "What goes wrong there is nobody's trouble: a cancelled query is asked elsewhere, a replica that is gone left alone"
    )
    func failures() async throws {
        try await Stores.with { stores in
            let news = NIOLockedValueBox<[ReplicaNews]>([])
            try await withReplica(of: stores) { store, replica in
                let head = try await SmallDesk(store).head()
                let follower = Task { await replica.follow { one in news.withLockedValue { $0.append(one) } } }
                @Sendable func raise(_ code: String) async throws -> Int? {
                    try await replica.read(at: head, indexed: false) { snapshot in
                        let raising = "DO $$ BEGIN RAISE 'as a test wants it' USING ERRCODE = '\(code)'; END $$"
                        try (snapshot as? PostgresSnapshot)?.connection.run(raising)
                        return 1
                    }
                }
                for code in ["40001", "40P01"] {
                    #expect(try await raise(code) == nil)
                    #expect(try await ReplicaTests.ids(replica, at: head) == [])
                }
                // What the body itself says is its own affair.
                await #expect(throws: Problem.self) {
                    try await replica.read(at: head, indexed: false) { _ in throw Problem(.notFound, "No.") }
                }
                #expect(try await ReplicaTests.ids(replica, at: head) == [])
                #expect(try await raise("57P01") == nil)
                #expect(try await ReplicaTests.ids(replica, at: head) == nil)
                // It is looked for again.
                let end = ContinuousClock.now + .seconds(30)
                while try await ReplicaTests.ids(replica, at: head) == nil, .now < end {
                    try await Task.sleep(for: .milliseconds(50))
                }
                #expect(try await ReplicaTests.ids(replica, at: head) == [])
                follower.cancel()
                await follower.value
            }
            let told = news.withLockedValue { $0 }
            #expect(told.count == 3 && told.first == .found && told.last == .found, "\(told)")
        }
    }

    @Test("One that is away at the start is no trouble, one of another installation is refused")
    func start() async throws {
        try await Stores.with { stores in
            let away = PostgresSettings("host=127.0.0.1 port=\(try Loopback.freePort()) dbname=x user=x")
            try await withReplica(of: stores, at: away) { store, replica in
                let head = try await SmallDesk(store).head()
                #expect(try await ReplicaTests.ids(replica, at: head) == nil)
            }
            let other = try await PostgresServer.running.database()
            await (try PostgresStore(other.settings)).close()
            await #expect(throws: ReplicaForeign.self) {
                try await withReplica(of: stores, at: other.settings) { _, _ in }
            }
        }
    }
}

extension SmallDesk {
    /// Where its scope stands.
    fileprivate func head() async throws -> ScopeHead {
        try #require(try await store.read { try $0.head(of: scope) })
    }
}
