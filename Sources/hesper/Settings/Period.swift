import HesperModel

/// A duration in a readable form: `12h`, `30d`.
struct Period: Equatable {
    let milliseconds: Int64

    static let form = "a duration from 1h to 36500d, such as 12h or 30d"
    /// The shortest duration that is allowed, so that nothing is removed less than an hour after its most recent change.
    private static let shortest = Timestamp.hour
    private static let longest = 36_500 * Timestamp.day

    /// Parses a duration. Nil if the text has another form, or if the duration is out of range.
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
