import HesperModel

/// Random numbers that are reproducible with a seed (SplitMix64; Steele, Lea and Flood 2014).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}

/// Random texts of a few words, so that many texts share words, and queries that match often.
enum Words {
    private static let all = [
        "milk", "Milk", "mill", "million", "bread", "Bre", "don't", "e-mail", "Café", "cafe\u{301}", "STRASSE",
        "Straße", "ﬁsh", "42",
        "420", "Øre", "東京都", "京都", "東", "きがせ", "ガラス", "한국어", "한", "мир", "Миру", "שָׁלוֹם", "שלום", "سلام", "हिन्दी", "कि",
        "ไทย",
        "ภาษาไทย", "\u{1F680}", "a", "I", "x1y2",
    ]
    private static let separators = [" ", " ", " ", ", ", "\n", "-", ""]

    static func text(using random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...8, using: &random)).reduce(into: "") { text, _ in
            text += all.randomElement(using: &random) ?? ""
            text += separators.randomElement(using: &random) ?? ""
        }
    }

    /// A query of words, prefixes of words, and quoted parts of a text.
    static func query(of texts: [String], using random: inout SeededGenerator) -> String {
        // Rarely, three pieces have more terms than a query may have.
        for _ in 0..<100 {
            let query = pieces(of: texts, using: &random)
            if (try? SearchQuery(query)) != nil { return query }
        }
        return ""
    }

    private static func pieces(of texts: [String], using random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let scalars = Array(
                (Bool.random(using: &random) ? all : texts.sorted()).randomElement(using: &random)?.unicodeScalars
                    ?? "".unicodeScalars)
            let start =
                Bool.random(using: &random) || scalars.isEmpty ? 0 : Int.random(in: 0..<scalars.count, using: &random)
            let end = Int.random(in: start...scalars.count, using: &random)
            var piece = String.UnicodeScalarView()
            piece.append(contentsOf: scalars[start..<end])
            return Bool.random(using: &random) ? "\"\(String(piece))\"" : String(piece)
        }.joined(separator: " ")
    }
}
