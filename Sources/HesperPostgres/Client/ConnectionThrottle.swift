import Foundation
import NIOConcurrencyHelpers

/// Makes one connection at a time, with exponential back-off after a failure. During the back-off, all callers immediately get
/// the error of the most recent attempt. So a server that becomes available again does not get many connections at once.
final class ConnectionThrottle: Sendable {
    private struct State {
        var failures = 0
        var notBefore = ContinuousClock.now
        var error: PostgresError?
        var isRetrying = false
    }

    /// True while a connection is being made.
    private let isConnecting = ConditionLock(value: false)
    private let state = NIOLockedValueBox(State())

    private static let firstPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(2)
    /// The maximum number of doublings of the pause, to avoid an overflow. ``longestPause`` is reached after fewer doublings.
    private static let doublings = 6

    func connect(_ make: () throws -> Connection) throws -> Connection {
        try throwDuringBackOff()
        isConnecting.lock(whenValue: false)
        isConnecting.unlock(withValue: true)
        defer {
            isConnecting.lock()
            isConnecting.unlock(withValue: false)
        }
        // This thread may have waited while another thread tried to connect. If the other thread failed, do not try again, but
        // throw its error.
        try throwDuringBackOff()
        state.withLockedValue { $0.isRetrying = true }
        do {
            let connection = try make()
            state.withLockedValue { $0 = State() }
            return connection
        } catch {
            fail(error as? PostgresError ?? .unreachable("\(error)"))
            throw error
        }
    }

    /// Throws the error of the most recent attempt if the back-off has not ended, or if another thread is making the next attempt.
    private func throwDuringBackOff() throws {
        try state.withLockedValue { state in
            guard let error = state.error, state.isRetrying || state.notBefore > .now else { return }
            throw error
        }
    }

    private func fail(_ error: PostgresError) {
        state.withLockedValue { state in
            let pause = ConnectionThrottle.firstPause * (1 << min(state.failures, ConnectionThrottle.doublings))
            // The pause is random, so that servers that lost their connections at the same time do not reconnect at the same time.
            state.notBefore = .now + min(pause, ConnectionThrottle.longestPause) * Double.random(in: 0.5...1)
            state.failures += 1
            state.error = error
            state.isRetrying = false
        }
    }
}
