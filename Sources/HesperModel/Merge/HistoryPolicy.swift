/// Determines which superseded values the bag keeps, and for how long (merge.md, Thinning).
public enum HistoryPolicy: Sendable, Equatable {
    /// All values are kept forever.
    case forever
    /// All values are kept for `all` milliseconds after they were superseded. From then until `hourly` milliseconds after they
    /// were superseded, one value per hour is kept. After that, one value per day is kept forever.
    case thinned(all: Int64, hourly: Int64)

    /// The default: all values are kept for a day, one per hour for 30 days, and one per day after that.
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
