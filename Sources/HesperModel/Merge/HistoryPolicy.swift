/// Which superseded values the bag keeps, and for how long (merge.md, Thinning).
public enum HistoryPolicy: Sendable, Equatable {
    /// All values, without a time limit.
    case forever
    /// All values for `all` milliseconds after each was superseded, then one per hour. After `hourly` milliseconds, one per day,
    /// without a time limit.
    case thinned(all: Int64, hourly: Int64)

    /// The default: all values for a day, one per hour for 30 days, then one per day.
    public static let standard = HistoryPolicy.thinned(all: Timestamp.day, hourly: 30 * Timestamp.day)
}

extension Timestamp {
    /// An hour in milliseconds.
    public static let hour: Int64 = 60 * 60 * 1_000
    /// A day in milliseconds.
    public static let day = 24 * hour

    /// This time plus a number of milliseconds, which may be negative, clamped to ``range``.
    public func adding(_ milliseconds: Int64) -> Timestamp {
        let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        return Timestamp(clamping: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }
}
