/// The time limit of one wait, and how often it was extended to let a cancelled statement end.
struct Timeout {
    private(set) var end: ContinuousClock.Instant
    /// How often the limit was reached and extended.
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
