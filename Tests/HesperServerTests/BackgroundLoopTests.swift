import HesperStore
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import Testing

@testable import HesperServer

/// Repetition, back-off, triggers and shutdown of background loops.
@Suite(.timeLimit(.minutes(10))) struct BackgroundLoopTests {
    private struct Failed: Error {}

    private let lines = NIOLockedValueBox<[String]>([])
    private let steps = NIOLockedValueBox(0)

    private var logger: Logger { Logger(label: "test") { [lines] _ in LogRecorder(lines: lines) } }

    private func until(_ count: Int) async throws {
        while steps.withLockedValue({ $0 }) < count { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Fails like a store whose operation was cancelled: with an error of its own.
    @Sendable private func cancelledStep() async throws -> Duration? {
        steps.withLockedValue { $0 += 1 }
        do {
            try await Task.sleep(for: .seconds(3_600))
        } catch {
            throw StoreError.unavailable("\(error)")
        }
        return nil
    }

    @Test func aStepCancelledByShutdownIsNotLogged() async throws {
        let isAtEnd = NIOLockedValueBox(false)
        let loop = BackgroundLoop(
            "Work", backoff: Backoff(first: .seconds(1)), logger: logger,
            atEnd: { isAtEnd.withLockedValue { $0 = true } }, step: cancelledStep)
        let group = ServiceGroup(services: [loop], logger: TestServer.silent)
        let task = Task { try await group.run() }
        try await until(1)
        await group.triggerGracefulShutdown()
        try await task.value
        #expect(isAtEnd.withLockedValue { $0 })
        #expect(lines.withLockedValue { $0 } == [])
    }

    @Test func aCancelledStepIsNotLogged() async throws {
        let loop = BackgroundLoop("Work", backoff: Backoff(first: .seconds(1)), logger: logger, step: cancelledStep)
        let task = Task { try await loop.run() }
        try await until(1)
        task.cancel()
        try await task.value
        #expect(lines.withLockedValue { $0 } == [])
    }

    @Test func anErrorIsLoggedAndTheStepIsRetried() async throws {
        let backoff = Backoff(first: .milliseconds(1), longest: .milliseconds(4))
        let loop = BackgroundLoop("Work", backoff: backoff, logger: logger) { [steps] in
            let step = steps.withLockedValue { steps in
                steps += 1
                return steps
            }
            guard step > 3 else { throw Failed() }
            return step < 6 ? .zero : nil
        }
        let task = Task { try await loop.run() }
        try await until(6)
        task.cancel()
        try await task.value
        let lines = lines.withLockedValue { $0 }
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("error Work failed; retrying") })
        #expect(steps.withLockedValue { $0 } == 6)
    }

    @Test func aTriggerStartsAStepImmediately() async throws {
        let trigger = Trigger()
        let loop = BackgroundLoop("Work", trigger: trigger, backoff: Backoff(first: .seconds(1)), logger: logger) {
            [steps] in
            steps.withLockedValue { $0 += 1 }
            return .seconds(3_600)
        }
        let task = Task { try await loop.run() }
        for count in 1...50 {
            try await until(count)
            // Also works if the loop is not waiting yet.
            trigger.fire()
        }
        try await until(51)
        task.cancel()
        try await task.value
        #expect(steps.withLockedValue { $0 } == 51)
    }

    @Test func theFirstStepWaitsForOneInterval() async throws {
        let start = ContinuousClock.now
        let loop = BackgroundLoop("Work", every: .milliseconds(20), logger: logger) { [steps] in
            steps.withLockedValue { $0 += 1 }
        }
        let task = Task { try await loop.run() }
        try await until(3)
        #expect(ContinuousClock.now - start >= .milliseconds(60))
        task.cancel()
        try await task.value
    }

    @Test func backoffDoublesUpToItsMaximum() {
        let backoff = Backoff(first: .seconds(60), longest: .seconds(3_600))
        let waits = (1...8).map { backoff.delay(after: $0).components.seconds }
        #expect(waits == [60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
        #expect(Backoff(first: .seconds(5)).delay(after: 1_000) == .seconds(5))
    }
}
