import HesperModel
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperPostgres
@testable import HesperStore

/// Behaviour that only a store with several concurrent writers has.
@Suite("Concurrent writers", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct ConcurrencyTests {
    /// Blocks the thread until `condition` holds, for at most a minute.
    private static func wait(until condition: () -> Bool) {
        for _ in 0..<60_000 where !condition() { Pause.millisecond() }
    }

    @Test("Transactions on two scopes run concurrently")
    func scopesAtOnce() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let (here, there) = (try await TestClient(store), try await TestClient(store, email: "bob@example.com"))
            let inside = NIOLockedValueBox(0)
            @Sendable func push(_ desk: TestClient) async throws -> Bool {
                try await store.write { transaction in
                    try desk.push([desk.note(.random(), "Milk")], in: transaction)
                    inside.withLockedValue { $0 += 1 }
                    ConcurrencyTests.wait { inside.withLockedValue { $0 == 2 } }
                    return inside.withLockedValue { $0 == 2 }
                }
            }
            async let first = push(here)
            async let second = push(there)
            #expect(try await [first, second] == [true, true])
        }
    }

    @Test("One of several servers has the sweep lease, and another gets it when that one ends it")
    func oneSweeps() async throws {
        try await Stores.with { stores in
            let servers = (try await stores.open(), try await stores.open())
            @Sendable func contend() async throws -> [Lease] {
                try await withThrowingTaskGroup(of: Lease?.self) { group in
                    for index in 0..<16 {
                        group.addTask {
                            var lease = Lease.sweeper
                            let store = index.isMultiple(of: 2) ? servers.0 : servers.1
                            return try await lease.hold(in: store, at: TestClient.now) ? lease : nil
                        }
                    }
                    return try await group.reduce(into: []) { if let lease = $1 { $0.append(lease) } }
                }
            }
            for _ in 0..<10 {
                var held = try await contend()
                #expect(held.count == 1)
                #expect(try await contend().isEmpty)
                try await held.popLast()?.end(in: servers.1)
            }
        }
    }

    @Test("Transactions on one scope run one after the other, also those of several servers")
    func oneScope() async throws {
        try await Stores.with { stores in
            let (store, other) = (try await stores.open(), try await stores.open())
            let desk = try await TestClient(store)
            let locked = NIOLockedValueBox<[Int]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<12 {
                    group.addTask {
                        try await (index.isMultiple(of: 2) ? store : other).write { transaction in
                            guard let scope = try transaction.lock(desk.scope) else { return }
                            locked.withLockedValue { $0.append(Int(scope.head.sequence)) }
                            Pause.millisecond()
                            try desk.push([desk.note(.random(), "Milk \(index)")], in: transaction)
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Each read what all earlier ones had committed.
            #expect(locked.withLockedValue { $0 } == Array(0..<12))
            #expect(try await desk.inconsistencies() == [])
        }
    }

    @Test("After a deadlock both transactions succeed, each once")
    func deadlock() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let (here, there) = (try await TestClient(store), try await TestClient(store, email: "bob@example.com"))
            let (attempts, inside) = (NIOLockedValueBox(0), NIOLockedValueBox(0))
            @Sendable func push(_ first: TestClient, _ second: TestClient) async throws {
                try await store.write { transaction in
                    attempts.withLockedValue { $0 += 1 }
                    try first.push([first.note(.random(), "Milk")], in: transaction)
                    inside.withLockedValue { $0 += 1 }
                    ConcurrencyTests.wait { inside.withLockedValue { $0 >= 2 } }
                    try second.push([second.note(.random(), "Bread")], in: transaction)
                }
            }
            async let one: Void = push(here, there)
            async let two: Void = push(there, here)
            _ = try await (one, two)
            #expect(attempts.withLockedValue { $0 } >= 3, "no transaction was retried")
            for desk in [here, there] {
                #expect(try await desk.ids().count == 2)
                #expect(try await desk.inconsistencies() == [])
            }
        }
    }

    @Test("A deadlock inside a savepoint retries the transaction")
    func deadlockInSavepoint() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let attempts = NIOLockedValueBox(0)
            try await store.write { transaction in
                let attempt = attempts.withLockedValue { attempts in
                    attempts += 1
                    return attempts
                }
                try desk.push([desk.note(.random(), "Milk \(attempt)")], in: transaction)
                try transaction.savepoint {
                    guard attempt == 1 else { return }
                    throw PostgresError(sqlState: "40P01", message: "deadlock detected")
                }
            }
            #expect(attempts.withLockedValue { $0 } == 2)
            #expect(try await desk.ids().count == 1)
        }
    }

    @Test("A write that waits too long for a locked scope is unavailable, and succeeds later")
    func lockTimeout() async throws {
        try await Stores.with { stores in
            let store = try await stores.open { $0.lockTimeout = .milliseconds(100) }
            let desk = try await TestClient(store)
            let (isLocked, isOver) = (NIOLockedValueBox(false), NIOLockedValueBox(false))
            async let holding: Void = store.write { transaction in
                _ = try transaction.lock(desk.scope)
                isLocked.withLockedValue { $0 = true }
                ConcurrencyTests.wait { isOver.withLockedValue { $0 } }
            }
            while !isLocked.withLockedValue({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            await #expect {
                try await desk.push(desk.note(.random(), "Milk"))
            } throws: { error in
                if case StoreError.unavailable = error { true } else { false }
            }
            isOver.withLockedValue { $0 = true }
            try await holding
            try await desk.push(desk.note(.random(), "Bread"))
            #expect(try await desk.ids().count == 1)
        }
    }

    @Test("A lost connection leaves no part of a transaction")
    func cut() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let other = UniqueID.random()
            await #expect {
                try await store.write { transaction in
                    try desk.push([desk.note(.random(), "Milk"), desk.tag(.random(), "Paris")], in: transaction)
                    try (transaction as? PostgresTransaction)?.connection.run(
                        "SELECT pg_terminate_backend(pg_backend_pid())")
                }
            } throws: { error in
                if case StoreError.unavailable = error { true } else { false }
            }
            #expect(try await desk.ids() == [])
            try await desk.push(desk.note(other, "Bread"))
            #expect(try await desk.ids() == [other])
            #expect(try await desk.inconsistencies() == [])
        }
    }

    @Test("While one scope is locked, pushes to others are committed, and pushes to the locked one later in order")
    func lanes() async throws {
        try await Stores.with { stores in
            let (store, other) = (try await stores.open { $0.size = 8 }, try await stores.open())
            #expect(store.writers > 1)
            let (slow, quick) = (try await TestClient(store), try await TestClient(store, email: "bob@example.com"))
            let queue = PushQueue(store: store)
            @Sendable func push(_ desk: TestClient) async throws -> Int64 {
                try await Scope(desk.scope, queue: queue, installation: store.installation, now: { TestClient.now })
                    .write(by: desk.node) { _, _, _ in Push([desk.note(.random(), "Milk")]) }.after.sequence
            }
            let (isLocked, isOver) = (NIOLockedValueBox(false), NIOLockedValueBox(false))
            async let holding: Void = other.write { transaction in
                _ = try transaction.lock(slow.scope)
                isLocked.withLockedValue { $0 = true }
                ConcurrencyTests.wait { isOver.withLockedValue { $0 } }
            }
            while !isLocked.withLockedValue({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            async let held = withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<10 { group.addTask { try await push(slow) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for sequence in 1...10 as ClosedRange<Int64> { #expect(try await push(quick) == sequence) }
            #expect(!isOver.withLockedValue { $0 })
            isOver.withLockedValue { $0 = true }
            try await holding
            #expect(try await held.sorted() == Array(1...10))
        }
    }

    @Test("A push without prefetch, of one note or many, takes three round trips", arguments: [1, 300])
    func roundTrips(count: Int) async throws {
        try await Stores.with { stores in
            let store = try await stores.open { $0.size = 1 }
            let desk = try await TestClient(store)
            let ids = (0..<count).map { _ in UniqueID.random() }
            // New, then changed.
            for time in 1...2 as ClosedRange<UInt64> {
                let trips = try await store.run { connection in
                    let before = connection.roundTrips
                    try PostgresTransaction.run(on: connection) { transaction in
                        _ = try desk.push(ids.map { desk.note($0, "Milk \(time)", at: time) }, in: transaction)
                    }
                    return connection.roundTrips - before
                }
                #expect(trips == 3)
            }
            #expect(try await desk.ids() == ids)
        }
    }

    @Test("Pushes of several scopes in one transaction are written by one statement for each table")
    func rowsOfSeveralPushes() async throws {
        try await Stores.with { stores in
            let log = NIOLockedValueBox<[String]>([])
            let store = try await stores.open(log: { sql in log.withLockedValue { $0.append(sql) } })
            let desks = [try await TestClient(store), try await TestClient(store, email: "bob@example.com")]
            let ids = (0..<3).map { _ in UniqueID.random() }
            for time in [1, 11] as [UInt64] {
                log.withLockedValue { $0 = [] }
                try await store.write { transaction in
                    try transaction.prefetch(desks.map { ($0.scope, ids) })
                    for desk in desks {
                        for id in ids { _ = try desk.push([desk.note(id, "Milk \(time)", at: time)], in: transaction) }
                    }
                }
                let sent = log.withLockedValue { $0 }
                #expect(Set(sent).count == sent.count && sent.count == (time == 1 ? 7 : 8), "\(sent)")
            }
            for desk in desks { #expect(Set(try await desk.ids()) == Set(ids)) }
        }
    }

    @Test("Prefetched pushes of several scopes take two round trips, and each reads what earlier ones have written")
    func prefetch() async throws {
        try await Stores.with { stores in
            let store = try await stores.open { $0.size = 1 }
            let desks = [try await TestClient(store), try await TestClient(store, email: "bob@example.com")]
            let (id, other) = (UniqueID.random(), UniqueID.random())
            for time in [1, 101] as [UInt64] {
                let trips = try await store.run { connection in
                    let before = connection.roundTrips
                    try PostgresTransaction.run(on: connection) { transaction in
                        try transaction.prefetch(desks.map { ($0.scope, [id, other]) })
                        for desk in desks {
                            for (id, time) in [(id, time), (other, time)] {
                                _ = try desk.push([desk.note(id, "Milk \(time)", at: time)], in: transaction)
                            }
                        }
                    }
                    return connection.roundTrips - before
                }
                #expect(trips == 2)
                // The same note twice in one transaction: its prefetched state is outdated and must be read again.
                try await store.write { transaction in
                    try transaction.prefetch(desks.map { ($0.scope, [id]) })
                    for desk in desks {
                        _ = try desk.push([desk.note(id, "Bread", at: time + 10)], in: transaction)
                        _ = try desk.push([desk.note(id, "Butter", at: time + 20)], in: transaction)
                    }
                }
            }
            for desk in desks {
                #expect(Set(try await desk.ids()) == [id, other])
                #expect(try await desk.inconsistencies() == [])
            }
        }
    }

    @Test("Concurrent lookups find the device of each token, and none for unknown tokens")
    func lookups() async throws {
        try await Stores.with { stores in
            let store = try await stores.open { $0.size = 2 }
            var known: [TokenHash: NodeID] = [:]
            for number in 0..<20 {
                let desk = try await TestClient(store, email: "user\(number)@example.com")
                known[desk.token] = desk.node
            }
            let strangers = (0..<100 as Range<UInt8>).map { TokenHash(bytes: [UInt8](repeating: $0, count: 32)) }
            let found = try await withThrowingTaskGroup(of: (TokenHash, NodeID?).self) { group in
                for token in Array(known.keys) + strangers + Array(known.keys) {
                    group.addTask { (token, try await store.session(of: token)?.device.node) }
                }
                return try await group.reduce(into: [TokenHash: NodeID]()) { $0[$1.0] = $1.1 }
            }
            #expect(found == known)
        }
    }
}
