/// Computes the delays before retries. The maximum delay grows exponentially. Each delay is a random value between half of the
/// maximum and the maximum, so that devices do not all retry at once.
///
/// The random numbers come from a seed (SplitMix64; Steele, Lea and Flood 2014), so that a simulation can be repeated.
package struct BackOff: Sendable, Equatable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// The delay before a retry, in milliseconds.
    /// - Parameters:
    ///   - failures: the number of failures in succession, at least 1.
    ///   - first: the maximum delay after the first failure. It doubles with each failure.
    package mutating func delay(afterFailures failures: Int, from first: Int64, upTo maximum: Int64) -> Int64 {
        let doublings = min(max(failures - 1, 0), 30)
        let whole = min(first << Int64(doublings), maximum)
        return whole / 2 + Int64(next() % UInt64(whole / 2 + 1))
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
