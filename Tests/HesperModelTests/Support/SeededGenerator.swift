import Foundation

/// Whether random tests run in full, as in `make test-all`.
let isEverything = ProcessInfo.processInfo.environment["HESPER_EVERYTHING"] != nil

/// A random number generator with a seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    /// Uses the seed in HESPER_TEST_SEED, or a random one, and prints it.
    init(for test: String) {
        let given = ProcessInfo.processInfo.environment["HESPER_TEST_SEED"].flatMap { UInt64($0) }
        seed = given ?? UInt64.random(in: 0..<1_000_000_000)
        state = seed
        print("\(test): HESPER_TEST_SEED=\(seed)")
    }

    /// Uses the given seed without printing it.
    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func one<T>(of choices: [T]) -> T { choices[number(0..<choices.count)] }
}
