import Foundation

/// A Unicode scalar as search uses it: its normalized form, and its role in search terms.
struct TermScalar {
    enum Kind: UInt32 {
        /// The scalar separates terms.
        case separator
        /// The scalar is ignored: an accent, a Hebrew point or a joiner.
        case ignored
        /// The scalar is part of a word. A word is one term.
        case word
        /// The scalar belongs to a script that is written without spaces. The terms of such a script are pairs of adjacent
        /// scalars.
        case pair
        /// The scalar is a vowel sign or a similar sign, as in Devanagari. It belongs to the preceding scalar.
        case sign
        /// The scalar is a mark that makes the preceding kana voiced: か followed by the mark is が.
        case voicing
        /// Used only in ``table``: the scalar is normalized to several scalars. The value is an index into ``expansions``.
        case several
    }

    /// The upper bits contain ``kind``. The lower 21 bits contain the scalar or, for ``Kind/several``, the index.
    private let packed: UInt32

    init(_ kind: Kind, _ value: UInt32) {
        packed = kind.rawValue << 21 | value
    }

    var kind: Kind { Kind(rawValue: packed >> 21) ?? .separator }
    var value: UInt32 { packed & 0x1F_FFFF }
    var scalar: Unicode.Scalar { Unicode.Scalar(value) ?? "\u{FFFD}" }

    /// Calls `body` with each scalar to which `scalar` is normalized.
    @inline(__always)
    static func of(_ scalar: Unicode.Scalar, _ body: (TermScalar) -> Void) {
        let value = scalar.value
        switch value {
        case 0x4E00...0x9FFF: body(TermScalar(.pair, value))
        case 0xAC00...0xD7A3:  // Hangul syllables decompose by arithmetic (Unicode, 3.12)
            let index = value - 0xAC00
            body(TermScalar(.word, 0x1100 + index / 588))
            body(TermScalar(.word, 0x1161 + index % 588 / 28))
            if !index.isMultiple(of: 28) { body(TermScalar(.word, 0x11A7 + index % 28)) }
        case 0..<UInt32(table.count):
            let entry = table[Int(value)]
            if entry.kind == .several { expansions[Int(entry.value)].forEach(body) } else { body(entry) }
        default: make(scalar).forEach(body)
        }
    }

    /// The normalized forms of all scalars below U+3400. Nearly all texts consist of these scalars, and of Han and Hangul, which
    /// need no table. The table is computed once, in about 10 ms.
    private static let (table, expansions): ([TermScalar], [[TermScalar]]) = {
        var table: [TermScalar] = []
        var expansions: [[TermScalar]] = []
        for value in UInt32(0)..<0x3400 {
            let made = Unicode.Scalar(value).map(make) ?? []
            if made.count == 1 {
                table.append(made[0])
            } else {
                table.append(TermScalar(.several, UInt32(expansions.count)))
                expansions.append(made)
            }
        }
        return (table, expansions)
    }()

    /// Normalizes a scalar: decomposes it (NFKD), removes accents and folds its case.
    private static func make(_ scalar: Unicode.Scalar) -> [TermScalar] {
        var result: [TermScalar] = []
        let text = String(scalar)
        let parts = isKana(scalar) ? text : text.decomposedStringWithCompatibilityMapping
        // Accents are removed before case folding, because folding turns the iota subscript into a letter.
        for part in parts.unicodeScalars where !isAccent(part) {
            CaseFolding.fold(part) { folded in
                if let plain = strokes[folded] {
                    result += plain.unicodeScalars.map { TermScalar(.word, $0.value) }
                } else {
                    result.append(TermScalar(kind(of: folded), folded.value))
                }
            }
        }
        result.removeAll { $0.kind == .ignored }
        return result.isEmpty ? [TermScalar(.ignored, 0)] : result
    }

    /// Whether a scalar is a kana. Kana are not decomposed: か and が are different letters, not one letter with and without an
    /// accent.
    private static func isKana(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3041...0x3096, 0x309D...0x309E, 0x30A1...0x30FA, 0x30FC...0x30FE: true
        default: false
        }
    }

    /// Letters that Unicode does not decompose. The value is the text that users type if their keyboard lacks the letter.
    private static let strokes: [Unicode.Scalar: String] = [
        "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe",
    ]

    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        if scalar == "\u{200B}" { return .separator }  // zero width space
        // A tatweel (U+0640) only lengthens a word typographically, so it is ignored.
        if scalar == "\u{0640}" || scalar.properties.isDefaultIgnorableCodePoint { return .ignored }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            return isPaired(scalar) ? .pair : .word
        case .nonspacingMark, .spacingMark:
            if scalar == "\u{3099}" || scalar == "\u{309A}" { return .voicing }
            return isPaired(scalar) ? .pair : .sign
        case .enclosingMark, .format: return .ignored
        default: return .separator
        }
    }

    /// Whether a scalar is a mark that writers of its script may omit. All other marks, such as vowels and viramas of Indic
    /// scripts, are significant.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.properties.generalCategory == .nonspacingMark else { return false }
        return switch scalar.value {
        case 0x0300...0x036F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true  // any script
        case 0x0483...0x0489, 0x2DE0...0x2DFF, 0xA66F...0xA67D: true  // Cyrillic
        case 0x0591...0x05C7, 0xFB1E: true  // Hebrew
        case 0x0610...0x061A, 0x064B...0x065F, 0x0670, 0x06D6...0x06ED, 0x0898...0x08FF: true  // Arabic
        case 0x0711, 0x0730...0x074A: true  // Syriac
        default: false
        }
    }

    /// Whether a scalar belongs to a script that is written without spaces: Thai and Lao, Myanmar, Khmer, Tai; kana, Bopomofo,
    /// Han, Tangut and Nushu.
    private static func isPaired(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAA7F, 0x1780...0x17FF: true
        case 0x1950...0x19DF, 0x1A20...0x1AAF, 0xAA80...0xAADF: true
        case 0x3005...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0x1AFF0...0x1B16F: true
        case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x16FE0...0x18DFF, 0x1B170...0x1B2FF: true
        case 0x20000...0x3FFFF: true
        default: false
        }
    }
}
