import HesperStore
import Logging
import NIOConcurrencyHelpers

/// Logs database failures at most once per second, because every request and every background loop fails while the database is
/// unavailable. Each message states how many messages were left out since the previous one.
final class OutageLog: Sendable {
    /// The instance that the whole process uses.
    static let shared = OutageLog()
    private static let interval = Duration.seconds(1)

    private struct State {
        var next: ContinuousClock.Instant?
        var skipped = 0
    }
    private let state = NIOLockedValueBox(State())

    /// Logs the failure of a background task. The limit of one message per second applies only if the database is unavailable.
    func report(_ message: String, _ error: any Error, logger: Logger) {
        let metadata: Logger.Metadata = ["error": "\(error)"]
        guard let error = error as? StoreError, error.isUnavailable else {
            return logger.error("\(message)", metadata: metadata)
        }
        report(message, metadata: metadata, logger: logger)
    }

    /// Logs a message, unless another message was logged less than a second ago.
    /// - Parameter now: the current time. Tests pass other times.
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
