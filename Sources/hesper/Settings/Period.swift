import HesperModel

/// A length of time as people write it: `12h`, `30d`.
struct Period: Equatable {
    let milliseconds: Int64

    static let wanted = "a time such as 12h or 30d is wanted, from 1h to 36500d"
    /// The shortest: nothing is removed sooner than an hour after it was changed.
    private static let shortest = Timestamp.hour
    private static let longest = 36_500 * Timestamp.day

    /// Nil for what is no such time, or not within the limits.
    init?(_ text: some StringProtocol) {
        let digits = text.dropLast()
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int64(digits) else {
            return nil
        }
        let unit: Int64
        switch text.last {
        case "h": unit = Timestamp.hour
        case "d": unit = Timestamp.day
        default: return nil
        }
        let (milliseconds, isTooLong) = count.multipliedReportingOverflow(by: unit)
        guard !isTooLong, (Period.shortest...Period.longest).contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }
}
