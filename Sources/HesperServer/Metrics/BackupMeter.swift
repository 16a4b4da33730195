import HesperModel
import NIOConcurrencyHelpers

/// What scheduled backups came to, for `/metrics`.
public final class BackupMeter: Sendable {
    private let state = NIOLockedValueBox((lastDate: Timestamp?.none, failures: 0))

    public init() {}

    /// The date of the last complete backup.
    public func complete(_ date: Timestamp) { state.withLockedValue { $0.lastDate = date } }

    public func fail() { state.withLockedValue { $0.failures += 1 } }

    func add(to text: inout MetricsText) {
        let (lastDate, failures) = state.withLockedValue { $0 }
        // Without a sample a rule about its age finds nothing; that there is none yet, the failures tell.
        if let lastDate {
            text.gauge(
                "hesper_last_backup_timestamp_seconds", "When the last complete scheduled backup began, since 1970.",
                lastDate.milliseconds / 1_000)
        }
        text.counter("hesper_backup_failures_total", "Scheduled backups that failed.", failures)
    }
}
