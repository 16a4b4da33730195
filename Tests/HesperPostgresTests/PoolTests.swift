import Foundation
import HesperStore
import NIOConcurrencyHelpers
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct PoolTests {
    /// Runs `body` with a pool on a new database, and closes the pool.
    private func withPool(
        size: Int, checkoutTimeout: Duration = .seconds(10), _ body: (PostgresPool) async throws -> Void
    ) async throws {
        let database = try await PostgresServer.running.database()
        var settings = database.settings
        settings.size = size
        settings.checkoutTimeout = checkoutTimeout
        let pool = PostgresPool(settings)
        do { try await body(pool) } catch {
            await pool.close()
            throw error
        }
        await pool.close()
        _ = database
    }

    private static func pause(until condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await condition())
    }

    @Test func jobsBlockOnlyThreadsOfThePool() async throws {
        // More jobs than Swift concurrency has threads: if they blocked those, no task could open the gate.
        let size = min(ProcessInfo.processInfo.activeProcessorCount + 2, 40)
        try await withPool(size: size, checkoutTimeout: .seconds(120)) { pool in
            let (gate, inside) = (Gate(), NIOLockedValueBox((now: 0, greatest: 0)))
            let processes = try await withThrowingTaskGroup(of: Int64?.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await pool.run { connection in
                            inside.withLockedValue { $0 = ($0.now + 1, max($0.greatest, $0.now + 1)) }
                            defer { inside.withLockedValue { $0.now -= 1 } }
                            try gate.pass()
                            return try connection.first("SELECT pg_backend_pid()") { $0.integer(0) }
                        }
                    }
                }
                try await PoolTests.pause {
                    inside.withLockedValue { $0.now } == size && pool.waitingCount == 200 - size
                }
                #expect(pool.status == PoolStatus(limit: size, busy: size, idle: 0, waiting: 200 - size))
                gate.open(for: 200)
                return try await group.reduce(into: Set<Int64?>()) { $0.insert($1) }
            }
            #expect(processes.count == size && inside.withLockedValue { $0.greatest } == size)
            #expect(pool.idleCount == size)
        }
    }

    @Test func jobsRunInOrderOfArrival() async throws {
        try await withPool(size: 1, checkoutTimeout: .seconds(120)) { pool in
            let (gate, order) = (Gate(), NIOLockedValueBox<[Int]>([]))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await pool.run { _ in try gate.pass() } }
                try await PoolTests.pause { gate.isAwaited }
                for number in 0..<20 {
                    group.addTask { try await pool.run { _ in order.withLockedValue { $0.append(number) } } }
                    try await PoolTests.pause { pool.waitingCount == number + 1 }
                }
                gate.open(for: 1)
                try await group.waitForAll()
            }
            #expect(order.withLockedValue { $0 } == Array(0..<20))
        }
    }

    @Test func readsDoNotWaitForWrites() async throws {
        try await withPool(size: 8, checkoutTimeout: .seconds(120)) { pool in
            let (gate, order) = (Gate(), NIOLockedValueBox<[Int]>([]))
            @Sendable func begun() -> [Int] { order.withLockedValue { $0 } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        try await pool.run(writes: true) { _ in
                            order.withLockedValue { $0.append(number) }
                            try gate.pass()
                        }
                    }
                    try await PoolTests.pause { begun().count + pool.waitingCount == number + 1 }
                }
                #expect(begun() == Array(0..<6) && pool.waitingCount == 4)
                for _ in 0..<20 { try await pool.run { _ in } }
                #expect(pool.status.busy == 6 && pool.waitingCount == 4)
                // Waiting writes start in order as running ones end.
                for count in 7...10 {
                    gate.open(for: 1)
                    try await PoolTests.pause { begun().count == count }
                }
                gate.open(for: 6)
                try await group.waitForAll()
            }
            #expect(begun() == Array(0..<10) && pool.status.busy == 0)
        }
    }

    @Test func aWriteThatWaitsTooLongFails() async throws {
        try await withPool(size: 2, checkoutTimeout: .milliseconds(200)) { pool in
            let gate = Gate()
            async let long: Void = pool.run(writes: true) { _ in try gate.pass() }
            try await PoolTests.pause { gate.isAwaited }
            await #expect(throws: StoreError.unavailable("all 1 connections for writing were busy for 0.2 seconds")) {
                try await pool.run(writes: true) { _ in }
            }
            try await pool.run { _ in }
            gate.open(for: 1)
            try await long
            #expect(pool.waitingCount == 0)
        }
    }

    @Test func aJobThatWaitsTooLongFails() async throws {
        try await withPool(size: 1, checkoutTimeout: .milliseconds(200)) { pool in
            let gate = Gate()
            async let long: Void = pool.run { _ in try gate.pass() }
            try await PoolTests.pause { gate.isAwaited }
            await #expect(throws: StoreError.unavailable("all 1 connections were busy for 0.2 seconds")) {
                try await pool.run { _ in }
            }
            gate.open(for: 1)
            try await long
            #expect(pool.waitingCount == 0)
        }
    }

    @Test func aConnectionIsResetAfterEachJob() async throws {
        try await withPool(size: 1) { pool in
            struct Deliberate: Error {}
            try await pool.run { try $0.execute(script: "CREATE TABLE t (id bigint)") }
            await #expect(throws: Deliberate.self) {
                try await pool.run { connection in
                    connection.timeout = .seconds(1)
                    connection.enqueue("BEGIN")
                    connection.enqueue("INSERT INTO t VALUES (1)")
                    connection.enqueue("SELECT 1/0")
                    throw Deliberate()
                }
            }
            // Errors of enqueued statements are also thrown as store errors.
            let error = await #expect(throws: StoreError.self) {
                try await pool.run { connection in
                    connection.enqueue("BEGIN")
                    connection.enqueue("SELECT 1/0")
                }
            }
            #expect(error == .failed("PostgreSQL 22012: division by zero in: SELECT 1/0"))
            let (count, isInTransaction, timeout) = try await pool.run { connection in
                let before = connection.isInTransaction
                return (try connection.first("SELECT count(*) FROM t") { $0.int(0) }, before, connection.timeout)
            }
            #expect(count == 0 && !isInTransaction && timeout == pool.settings.statementTimeout)
            #expect(pool.idleCount == 1)
        }
    }

    @Test func aJobOfACancelledTaskRunsToItsEnd() async throws {
        try await withPool(size: 1) { pool in
            let task = Task {
                try await pool.run { try $0.execute(script: "CREATE TABLE t (id bigint); SELECT pg_sleep(0.3)") }
            }
            task.cancel()
            try await task.value
            #expect(try await pool.run { try $0.first("SELECT to_regclass('t') IS NOT NULL") { $0.bool(0) } } == true)
        }
    }

    @Test func closingWaitsForAcceptedJobs() async throws {
        let database = try await PostgresServer.running.database()
        var settings = database.settings
        settings.size = 1
        let pool = PostgresPool(settings)
        let (gate, done) = (Gate(), NIOLockedValueBox<[Int]>([]))
        let tasks = try await (0..<3).asyncMap { number in
            let task = Task {
                try await pool.run { _ in
                    try gate.pass()
                    done.withLockedValue { $0.append(number) }
                }
            }
            try await PoolTests.pause { gate.isAwaited && pool.waitingCount == number }
            return task
        }
        async let closing: Void = pool.close()
        gate.open(for: 3)
        await closing
        #expect(done.withLockedValue { $0 } == [0, 1, 2])
        for task in tasks { try await task.value }
        await #expect(throws: StoreError.unavailable("the connection pool is closed")) { try await pool.run { _ in } }
        await pool.close()
        // The server ends a session a moment after its connection.
        try await PoolTests.pause {
            try await onThread {
                try Connection(PostgresSettings(database.server.string())).first(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", [.text(database.name)]
                ) { $0.int(0) }
            } == 0
        }
    }
}

/// Blocks threads of the pool until it is opened for them.
private final class Gate: Sendable {
    private struct Stuck: Error {}

    private let semaphore = DispatchSemaphore(value: 0)
    private let arrived = NIOLockedValueBox(0)

    /// Whether a thread has reached it.
    var isAwaited: Bool { arrived.withLockedValue { $0 } > 0 }

    func pass() throws {
        arrived.withLockedValue { $0 += 1 }
        guard semaphore.wait(timeout: .now() + 60) == .success else { throw Stuck() }
    }

    func open(for count: Int) {
        for _ in 0..<count { semaphore.signal() }
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var all: [T] = []
        for element in self { all.append(try await body(element)) }
        return all
    }
}
