import Foundation
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

/// Commits or a connection hang, and other requests continue.
@Suite(
    "Hanging commits and connections",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct StandstillTests {
    /// The number of commits that wait for a standby.
    private static func waitingCommits(_ database: PostgresServer.Database) async throws -> Int {
        let settings = PostgresSettings(database.server.string())
        return try await onThread {
            try Connection(settings).first(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'SyncRep'",
                [.text(database.name)]
            ) { $0.int(0) } ?? 0
        }
    }

    @Test("Reads continue while commits wait for a lost standby")
    func commits() async throws {
        let server = try await PostgresServer(
            settings: ["synchronous_standby_names = 'missing'", "synchronous_commit = local"])
        let database = try await server.database()
        var settings = database.settings
        settings.size = 4
        let before = try await PostgresStore(settings)
        let desk = try await TestClient(before)
        await before.close()
        try await server.administer("ALTER DATABASE \(database.name) SET synchronous_commit = on")
        settings.statementTimeout = .seconds(10)
        settings.checkoutTimeout = .seconds(2)
        let store = try await PostgresStore(settings)
        let stage = try #require(store.uploadStage)
        let created = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do { try await stage.create(.random()) } catch StoreError.unavailable(_) { return false }
                    return true
                }
            }
            let end = ContinuousClock.now + .seconds(30)
            while try await StandstillTests.waitingCommits(database) < 2, .now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
            // If no connections were reserved for reads, all of them would be waiting now.
            try await Task.sleep(for: .milliseconds(500))
            for _ in 1...5 {
                #expect(try await store.session(of: desk.token)?.device.node == desk.node)
                #expect(try await store.read { try $0.head(of: desk.scope)?.scope } == desk.scope)
            }
            #expect(try await StandstillTests.waitingCommits(database) <= 2)
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(created == 0)
        await store.close()
    }

    @Test("A hanging connection delays session lookups only for a short time")
    func connection() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            // The most recently used connection is used next.
            let process = try await store.run { $0.processID }
            #expect(kill(process, SIGSTOP) == 0)
            defer { kill(process, SIGCONT) }
            let start = ContinuousClock.now
            let found = try await withThrowingTaskGroup(of: NodeID?.self) { group in
                for _ in 0..<8 { group.addTask { try await store.session(of: desk.token)?.device.node } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(found == Array(repeating: desk.node, count: 8))
            // Other statements wait for half a minute before they time out.
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(try await store.run { $0.processID } != process)
        }
    }
}
