/// A random number generator that yields the same numbers for the same seed (SplitMix64).
///
///     var generator = SeededGenerator(seed: 7)
///     generator.number(in: 0..<6)
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed with which the generator was created.
    public let seed: UInt64
    private var state: UInt64

    /// Creates a generator from a seed.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A random number in a range. The range must not be empty.
    public mutating func number(in range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// Draws whether an event with this probability occurs.
    public mutating func isTrue(withProbability probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    /// A random element of a list; nil if the list is empty.
    public mutating func element<T>(of elements: [T]) -> T? {
        elements.isEmpty ? nil : elements[number(in: 0..<elements.count)]
    }

    /// Makes another generator. Its numbers do not depend on how many numbers this generator yields afterwards.
    public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }
}
