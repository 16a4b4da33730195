/// How long somebody waits, and whether what they waited for was cancelled meanwhile.
struct Patience {
    private(set) var end: ContinuousClock.Instant
    /// How often it came to its end.
    private(set) var extensions = 0

    init(_ duration: Duration) { end = .now + duration }

    /// Milliseconds for `poll()`: rounded up, so that it does not spin at the end.
    var milliseconds: Int32 { Int32(clamping: Int64(((end - .now) / .milliseconds(1)).rounded(.up))) }

    var isOver: Bool { extensions > 0 }

    mutating func extend(by duration: Duration) {
        extensions += 1
        end = .now + duration
    }
}
