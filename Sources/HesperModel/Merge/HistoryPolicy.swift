/// Which superseded values stay in the bag, and for how long (merge.md, Thinning).
public enum HistoryPolicy: Sendable, Equatable {
    /// All of them, for ever.
    case forever
    /// All for `all` milliseconds after each was superseded; then one an hour; once `hourly` milliseconds have passed, one a
    /// day, for ever.
    case thinned(all: Int64, hourly: Int64)

    /// All for a day, one an hour for a month, then one a day.
    public static let standard = HistoryPolicy.thinned(all: Timestamp.day, hourly: 30 * Timestamp.day)
}

extension Timestamp {
    /// In milliseconds.
    public static let hour: Int64 = 60 * 60 * 1_000
    /// In milliseconds.
    public static let day = 24 * hour

    /// So many milliseconds later, or the last moment that can be written; earlier if they are negative.
    public func adding(_ milliseconds: Int64) -> Timestamp {
        let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
        return Timestamp(clamping: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }
}
