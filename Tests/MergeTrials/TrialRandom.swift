/// A random number generator with a seed (SplitMix64).
struct TrialRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The generator for one of many trials that share a seed.
    init(seed: UInt64, trial: Int) {
        var first = TrialRandom(seed: seed)
        self.init(seed: first.next() &+ UInt64(trial) &* 0xD1B5_4A32_D192_ED03)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func number(below end: Int) -> Int { Int(next() % UInt64(end)) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { range.lowerBound + number(below: range.count) }

    /// True with a probability of `percent`.
    mutating func happens(_ percent: Int) -> Bool { number(below: 100) < percent }

    mutating func one<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }
}
