import Foundation
import Testing

/// The files of Tests/Vectors, which any implementation can run (its README says how).
enum Vectors {
    static func load<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: "Vectors/\(name)")))
    }
}

/// Random numbers that come again with the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    /// Takes the seed in HESPER_TEST_SEED, or a new one, and prints it.
    init(for test: String) {
        let wanted = ProcessInfo.processInfo.environment["HESPER_TEST_SEED"].flatMap { UInt64($0) }
        seed = wanted ?? UInt64.random(in: 0..<1_000_000_000)
        state = seed
        print("\(test): HESPER_TEST_SEED=\(seed)")
    }

    /// One that its maker prints.
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
}

extension String {
    /// For messages and for comparing what `==` takes for equal: the scalars in hex.
    var hex: String { unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ") }
}
