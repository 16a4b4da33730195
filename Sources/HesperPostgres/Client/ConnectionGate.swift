import Foundation
import NIOConcurrencyHelpers

/// Lets one connection be made at a time. When that fails no other is tried for a while, which grows: whoever asks
/// meanwhile is told at once, and a server that comes back is not overrun.
final class ConnectionGate: Sendable {
    private struct State {
        var failures = 0
        var notBefore = ContinuousClock.now
        var error: PostgresError?
        var isTrying = false
    }

    /// Whether somebody is making one.
    private let turn = ConditionLock(value: false)
    private let state = NIOLockedValueBox(State())

    private static let firstPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(2)
    /// Doublings after which a pause is the longest in any case.
    private static let doublings = 6

    func connect(_ make: () throws -> Connection) throws -> Connection {
        try refuseWhileAway()
        turn.lock(whenValue: false)
        turn.unlock(withValue: true)
        defer {
            turn.lock()
            turn.unlock(withValue: false)
        }
        // The attempt that was waited for may have failed.
        try refuseWhileAway()
        state.withLockedValue { $0.isTrying = true }
        do {
            let connection = try make()
            state.withLockedValue { $0 = State() }
            return connection
        } catch {
            fail(error as? PostgresError ?? .unreachable("\(error)"))
            throw error
        }
    }

    private func refuseWhileAway() throws {
        try state.withLockedValue { state in
            guard let error = state.error, state.isTrying || state.notBefore > .now else { return }
            throw error
        }
    }

    private func fail(_ error: PostgresError) {
        state.withLockedValue { state in
            let pause = ConnectionGate.firstPause * (1 << min(state.failures, ConnectionGate.doublings))
            // Servers that lost it together should not come back together.
            state.notBefore = .now + min(pause, ConnectionGate.longestPause) * Double.random(in: 0.5...1)
            state.failures += 1
            state.error = error
            state.isTrying = false
        }
    }
}
