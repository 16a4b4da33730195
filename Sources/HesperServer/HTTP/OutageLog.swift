import Logging
import NIOConcurrencyHelpers

/// Logs that the store fails, which then every request would say: once a second at most, with how many lines that stands for.
final class OutageLog: Sendable {
    /// That of the process, as the log is.
    static let shared = OutageLog()
    private static let pause = Duration.seconds(1)

    private struct State {
        var next: ContinuousClock.Instant?
        var skipped = 0
    }
    private let state = NIOLockedValueBox(State())

    /// - Parameter now: for tests.
    func tell(_ message: String, logger: Logger, now: ContinuousClock.Instant = .now) {
        let skipped: Int? = state.withLockedValue { state in
            if let next = state.next, now < next {
                state.skipped += 1
                return nil
            }
            defer { state = State(next: now + OutageLog.pause) }
            return state.skipped
        }
        guard let skipped else { return }
        let others = skipped == 0 ? "" : " (\(skipped) more since the last such line)"
        logger.error("\(message)\(others)")
    }
}
