import HesperStore
import Logging
import NIOConcurrencyHelpers

/// Logs that the store fails, which then every request and everything in the background would say: once a second at most, with how
/// many lines that stands for.
final class OutageLog: Sendable {
    /// That of the process, as the log is.
    static let shared = OutageLog()
    private static let pause = Duration.seconds(1)

    private struct State {
        var next: ContinuousClock.Instant?
        var skipped = 0
    }
    private let state = NIOLockedValueBox(State())

    /// Logs that something in the background failed. Every such line is logged, unless the store is unavailable.
    func tell(_ message: String, _ error: any Error, logger: Logger) {
        let metadata: Logger.Metadata = ["error": "\(error)"]
        guard let error = error as? StoreError, error.isUnavailable else {
            return logger.error("\(message)", metadata: metadata)
        }
        tell(message, metadata: metadata, logger: logger)
    }

    /// - Parameter now: for tests.
    func tell(
        _ message: String, metadata: Logger.Metadata? = nil, logger: Logger, now: ContinuousClock.Instant = .now
    ) {
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
        logger.error("\(message)\(others)", metadata: metadata)
    }
}
