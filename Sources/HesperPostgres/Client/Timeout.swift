/// The time limit of one wait, and the number of times it was extended to wait for the end of a cancelled statement.
struct Timeout {
    private(set) var end: ContinuousClock.Instant
    /// The number of times that the limit was reached and then extended.
    private(set) var extensions = 0

    init(_ duration: Duration) { end = .now + duration }

    /// The remaining milliseconds for `poll()`, rounded up so that the wait does not spin just before the end.
    var milliseconds: Int32 { Int32(clamping: Int64(((end - .now) / .milliseconds(1)).rounded(.up))) }

    /// Whether the limit was reached at least once.
    var hasExpired: Bool { extensions > 0 }

    mutating func extend(by duration: Duration) {
        extensions += 1
        end = .now + duration
    }
}
