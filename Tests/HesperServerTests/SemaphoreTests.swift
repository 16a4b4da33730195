import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// Limits on concurrent tasks, in total and per key.
@Suite struct SemaphoreTests {
    /// Blocks the tasks that pass it until it is opened.
    private actor Gate {
        private(set) var entered: [ScopeID] = []
        private(set) var maximum = 0
        private var inside = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func pass(_ scope: ScopeID) async {
            entered.append(scope)
            inside += 1
            maximum = max(maximum, inside)
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            inside -= 1
        }

        func open() {
            isOpen = true
            for task in waiting { task.resume() }
            waiting = []
        }
    }

    /// Waits until a condition holds, for at most ten seconds.
    private func until(_ condition: () async -> Bool) async throws {
        for _ in 0..<10_000 {
            if await condition() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("the condition did not hold in time")
    }

    private let ada = ScopeID(1)
    private let bob = ScopeID(2)

    private func semaphore(_ total: Int, perKey: Int, waiting: Int) -> Semaphore<ScopeID> {
        .perAccount("searches", PermitLimits(total: total, perKey: perKey, waitingPerKey: waiting))
    }

    @Test func permitsAreLimitedPerAccountAndInTotal() async throws {
        let (semaphore, gate) = (semaphore(3, perKey: 2, waiting: 2), Gate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            func begin(_ scope: ScopeID) {
                group.addTask { try await semaphore.withPermit(scope) { await gate.pass(scope) } }
            }
            for _ in 0..<4 { begin(ada) }
            try await until { await gate.entered.count == 2 }
            try await until { semaphore.waitingCount == 2 }
            let refusal = await #expect(throws: Problem.self) { try await semaphore.withPermit(ada) {} }
            #expect(refusal?.slug == .tooManyRequests)
            #expect(refusal?.context["retryAfter"] == .integer(2))
            // Waiters of one account do not block those of another.
            begin(bob)
            try await until { await gate.entered == [ada, ada, bob] }
            begin(bob)
            try await until { semaphore.waitingCount == 3 }
            await gate.open()
            try await group.waitForAll()
        }
        #expect(await gate.entered.count == 6)
        #expect(await gate.maximum <= 3)
        #expect((semaphore.waitingCount, semaphore.keyCount) == (0, 0))
        // All permits are free again.
        for _ in 0..<10 { try await semaphore.withPermit(ada) {} }
    }

    @Test func anErrorReleasesThePermit() async throws {
        let semaphore = semaphore(1, perKey: 1, waiting: 0)
        for _ in 0..<3 {
            await #expect(throws: SearchTooCostly.self) {
                try await semaphore.withPermit(ada) { throw SearchTooCostly() }
            }
        }
    }

    @Test func withoutAQueueItRefusesImmediately() throws {
        let semaphore = semaphore(.max, perKey: 2, waiting: 0)
        #expect(semaphore.tryAcquire(ada) && semaphore.tryAcquire(ada) && !semaphore.tryAcquire(ada))
        #expect(semaphore.tryAcquire(bob) && semaphore.keyCount == 2)
        semaphore.release(ada)
        #expect(semaphore.tryAcquire(ada))
    }

    /// A cancelled task leaves the queue immediately, and later ones move up.
    @Test func cancellationEndsAWait() async throws {
        let (semaphore, gate) = (semaphore(1, perKey: 1, waiting: 1), Gate())
        let first = Task { [ada] in try await semaphore.withPermit(ada) { await gate.pass(ada) } }
        try await until { await gate.entered.count == 1 }
        let second = Task { [ada] in try await semaphore.withPermit(ada) { Issue.record("it was cancelled") } }
        try await until { semaphore.waitingCount == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(semaphore.waitingCount == 0)
        let third = Task { [ada] in try await semaphore.withPermit(ada) { await gate.pass(ada) } }
        try await until { semaphore.waitingCount == 1 }
        await gate.open()
        try await first.value
        try await third.value
        #expect(semaphore.keyCount == 0)
    }

    /// Waits that are cancelled while they are given a permit: no permit is lost or counted twice.
    @Test func concurrentCancellationLosesNoPermit() async throws {
        let semaphore = semaphore(2, perKey: 2, waiting: 1_000)
        let tasks = (0..<500).map { _ in
            Task { [ada] in try await semaphore.withPermit(ada) { await Task.yield() } }
        }
        for (index, task) in tasks.enumerated() where index % 3 == 0 { task.cancel() }
        for task in tasks { _ = await task.result }
        #expect((semaphore.waitingCount, semaphore.keyCount) == (0, 0))
        #expect(semaphore.tryAcquire(ada) && semaphore.tryAcquire(ada) && !semaphore.tryAcquire(ada))
    }
}
