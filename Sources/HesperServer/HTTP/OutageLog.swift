import HesperStore
import Logging
import NIOConcurrencyHelpers

/// Logs failures of the database at most once per second, with the number of messages left out: while the database is
/// unavailable, every request and every background loop fails.
final class OutageLog: Sendable {
    /// The instance of the process.
    static let shared = OutageLog()
    private static let interval = Duration.seconds(1)

    private struct State {
        var next: ContinuousClock.Instant?
        var skipped = 0
    }
    private let state = NIOLockedValueBox(State())

    /// Logs a failed background task. Only messages about an unavailable database are limited.
    func report(_ message: String, _ error: any Error, logger: Logger) {
        let metadata: Logger.Metadata = ["error": "\(error)"]
        guard let error = error as? StoreError, error.isUnavailable else {
            return logger.error("\(message)", metadata: metadata)
        }
        report(message, metadata: metadata, logger: logger)
    }

    /// Logs a message, unless one was logged less than a second ago.
    /// - Parameter now: for tests.
    func report(
        _ message: String, metadata: Logger.Metadata? = nil, logger: Logger, now: ContinuousClock.Instant = .now
    ) {
        let skipped: Int? = state.withLockedValue { state in
            if let next = state.next, now < next {
                state.skipped += 1
                return nil
            }
            defer { state = State(next: now + OutageLog.interval) }
            return state.skipped
        }
        guard let skipped else { return }
        let others = skipped == 0 ? "" : " (\(skipped) more since the last message)"
        logger.error("\(message)\(others)", metadata: metadata)
    }
}
