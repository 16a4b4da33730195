import Foundation
import HesperStore
import NIOConcurrencyHelpers
import Testing

@testable import HesperPostgres

/// Lost connections, and servers that stop and start.
@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct LossTests {
    private static let processes = "SELECT pg_backend_pid()"

    @Test func terminatedIdleConnectionsAreReplaced() async throws {
        let database = try await PostgresServer.running.database()
        let pool = PostgresPool(database.settings)
        let before = try await LossTests.sessions(pool, 4)
        #expect(before.count == 4)
        try await database.server.administer(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(database.name)'")
        let after = try await LossTests.sessions(pool, 4)
        #expect(after.count == 4 && before.isDisjoint(with: after))
        await pool.close()
    }

    @Test func aConnectionTerminatedInUseIsUnavailableAndThenReplaced() async throws {
        let database = try await PostgresServer.running.database()
        let pool = PostgresPool(database.settings)
        let error = await #expect(throws: StoreError.self) {
            try await pool.run { try $0.run("SELECT pg_terminate_backend(pg_backend_pid())") }
        }
        #expect(isUnavailable(error) && "\(error, default: "none")".contains("57P01"))
        #expect(try await pool.run { try $0.first("SELECT 8::bigint") { $0.integer(0) } } == 8)
        await pool.close()
    }

    @Test func connectionsThatWereIdleForLongAreTested() async throws {
        let database = try await PostgresServer.running.database()
        let proxy = try Switch(to: database.server.port)
        var settings = PostgresSettings(
            "host=127.0.0.1 port=\(proxy.port) user=hesper password='\(PostgresServer.password)' dbname=\(database.name) sslmode=disable"
        )
        settings.idleCheckThreshold = .zero
        let pool = PostgresPool(settings)
        let before = try await LossTests.sessions(pool, 1)
        // Sent data is accepted and never answered, so only a query reveals the loss.
        proxy.swallow()
        let after = try await LossTests.sessions(pool, 1)
        #expect(after.count == 1 && before.isDisjoint(with: after))
        await pool.close()
    }

    @Test func aRestartedServerIsUnavailableAndThenUsedAgain() async throws {
        let server = try await PostgresServer()
        var settings = PostgresSettings(server.string())
        settings.size = 4
        let pool = PostgresPool(settings)
        #expect(try await LossTests.sessions(pool, 4).count == 4)
        let running = Task { try await pool.run { try $0.run("SELECT pg_sleep(60)") } }
        try await Task.sleep(for: .milliseconds(200))
        try await server.control("stop -m immediate")
        let error = await #expect(throws: StoreError.self) { try await running.value }
        #expect(isUnavailable(error))
        for _ in 1...8 {
            let error = await #expect(throws: StoreError.self) { try await pool.run { _ = try $0.run("SELECT 1") } }
            #expect(isUnavailable(error))
        }
        try await server.control("start")
        // The back-off is short, but other tests also use the machine.
        let end = ContinuousClock.now + .seconds(60)
        var sessions: Set<Int64> = []
        while sessions.isEmpty, ContinuousClock.now < end {
            sessions = (try? await LossTests.sessions(pool, 4)) ?? []
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(sessions.count == 4)
        await pool.close()
    }

    @Test func anUnreachableServerIsNotTriedByEveryRequest() async throws {
        let (descriptor, port) = try Loopback.listen()
        let attempts = NIOLockedValueBox(0)
        Thread.detachNewThread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                attempts.withLockedValue { $0 += 1 }
                // Long enough for all other requests to arrive.
                usleep(200_000)
                // A child process that is being started may also have the descriptor.
                shutdown(client, Int32(SHUT_RDWR))
                close(client)
            }
        }
        var settings = PostgresSettings("host=127.0.0.1 port=\(port) user=hesper sslmode=disable gssencmode=disable")
        settings.size = 8
        let pool = PostgresPool(settings)
        let errors = await withTaskGroup(of: StoreError?.self) { group in
            for _ in 0..<300 {
                group.addTask {
                    do { try await pool.run { _ in } } catch { return error as? StoreError }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.count == 300)
        #expect(errors.allSatisfy(isUnavailable))
        // If each request made its own attempt, there would be 300.
        #expect(attempts.withLockedValue { $0 } <= 3)
        await pool.close()
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The sessions that this number of concurrent requests get.
    private static func sessions(_ pool: PostgresPool, _ count: Int) async throws -> Set<Int64> {
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.run { try $0.first("SELECT pg_backend_pid() FROM pg_sleep(0.3)") { $0.integer(0) } }
                }
            }
            return try await group.reduce(into: []) { if let process = $1 { $0.insert(process) } }
        }
    }
}
