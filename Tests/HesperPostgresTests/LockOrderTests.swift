import HesperModel
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperPostgres
@testable import HesperStore

/// Which transactions wait for which, without deadlocks.
@Suite("Lock order", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct LockOrderTests {
    /// Polls a condition for at most half a minute.
    private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    @Test("While one scope is being indexed, another is indexed and pushed to")
    func indexing() async throws {
        try await Stores.with { stores in
            let (store, other) = (try await stores.open(), try await stores.open())
            let (quick, slow) = (try await TestClient(store), try await TestClient(store, email: "bob@example.com"))
            for desk in [quick, slow] { try await desk.push(desk.note(.random(), "Milk")) }
            let (isBusy, isOver) = (NIOLockedValueBox(false), NIOLockedValueBox(false))
            async let holding: Void = other.write { transaction in
                _ = try transaction.indexTerms(of: slow.scope, limit: 100)
                isBusy.withLockedValue { $0 = true }
                for _ in 0..<45_000 where !isOver.withLockedValue({ $0 }) { Pause.millisecond() }
            }
            let isHeld = try await eventually { isBusy.withLockedValue { $0 } }
            let indexing = Task {
                let indexer = TermIndexer(store: store)
                while !Task.isCancelled {
                    guard let pause = try? await indexer.step() else { continue }
                    try? await Task.sleep(for: pause)
                }
            }
            let isIndexed = try await eventually {
                try await store.read { try $0.indexedSequence(of: quick.scope) } == 1
            }
            let isPushed = (try? await quick.push(quick.note(.random(), "Bread"))) != nil
            isOver.withLockedValue { $0 = true }
            indexing.cancel()
            await indexing.value
            try await holding
            #expect(isHeld && isIndexed && isPushed)
        }
    }

    @Test("Using a ticket waits for the transaction that replaces it, without a deadlock")
    func tickets() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let tokens = (0..<2 as Range<UInt8>).map { TokenHash(bytes: Array(repeating: $0, count: 32)) }
            @Sendable func issue(_ token: TokenHash, in transaction: any Transaction) throws {
                let end = TestClient.now.adding(60_000)
                let ticket = Ticket(.emailVerification, account: desk.account.uniqueID, endDate: end)
                try transaction.issue(ticket, token: token, at: TestClient.now)
            }
            try await store.write { try issue(tokens[0], in: $0) }
            let (attempts, isLocked) = (NIOLockedValueBox(0), NIOLockedValueBox(false))
            async let issuing: Void = store.write { transaction in
                attempts.withLockedValue { $0 += 1 }
                _ = try transaction.account(desk.account.uniqueID)
                isLocked.withLockedValue { $0 = true }
                // Long enough for the other transaction to wait for the lock.
                for _ in 0..<500 { Pause.millisecond() }
                try issue(tokens[1], in: transaction)
            }
            let isFirst = try await eventually { isLocked.withLockedValue { $0 } }
            let isUsed = try await store.write { transaction in
                attempts.withLockedValue { $0 += 1 }
                return try transaction.verifyEmail(with: tokens[0], at: TestClient.now)
            }
            try await issuing
            #expect(isFirst && !isUsed, "the new ticket must replace the old one")
            #expect(attempts.withLockedValue { $0 } == 2, "a transaction was retried")
        }
    }
}
