import HesperModel
import NIOConcurrencyHelpers

/// Records the date of the most recent complete scheduled backup and the number of failed scheduled backups, for `/metrics`.
public final class BackupMeter: Sendable {
    private let state = NIOLockedValueBox((lastDate: Timestamp?.none, failures: 0))

    public init() {}

    /// Records a complete backup.
    /// - Parameter date: when the backup began.
    public func complete(_ date: Timestamp) { state.withLockedValue { $0.lastDate = date } }

    public func fail() { state.withLockedValue { $0.failures += 1 } }

    func add(to text: inout MetricsText) {
        let (lastDate, failures) = state.withLockedValue { $0 }
        // The date is left out if there is no complete backup yet. In that case, only the number of failures shows whether backups
        // work.
        if let lastDate {
            text.gauge(
                "hesper_last_backup_timestamp_seconds", "Start of the last complete scheduled backup, as Unix time.",
                lastDate.milliseconds / 1_000)
        }
        text.counter("hesper_backup_failures_total", "Scheduled backups that failed.", failures)
    }
}
