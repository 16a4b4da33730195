/// A grapheme cluster (what users see as one character), with the kind of token that it belongs to.
struct TextGrapheme {
    let kind: TextTokens.Kind
    let byteCount: Int

    /// The kind of token that each ASCII character belongs to.
    static let asciiKinds: [TextTokens.Kind] = (UInt8.min..<0x80).map { kind(of: Unicode.Scalar($0)) }

    init(_ grapheme: Character) {
        byteCount = grapheme.utf8.count
        let scalars = grapheme.unicodeScalars
        let first = scalars[scalars.startIndex]
        let firstKind = Self.kind(of: first)
        if scalars.index(after: scalars.startIndex) == scalars.endIndex || first == "\r" {
            kind = firstKind
        } else if first.properties.isEmoji, !first.isASCII {
            kind = .solo
        } else {
            // A blank with a combining mark is visible, so it does not count as a blank.
            kind = firstKind == .blank ? .mark : firstKind
        }
    }

    /// Whether there is a grapheme cluster boundary between `tail` and `head` if `head` follows `tail` directly.
    ///
    /// It suffices to examine the last cluster of `tail` and the first of `head`: every rule of UAX #29 looks back at most to
    /// the start of a cluster, and `tail` ends with a whole cluster.
    static func haveBoundary(_ tail: ArraySlice<UInt8>, _ head: ArraySlice<UInt8>) -> Bool {
        guard let last = tail.last, let first = head.first else { return true }
        if last < 0x80, first < 0x80 { return !(last == 0x0D && first == 0x0A) }
        guard let cluster = String(decoding: tail, as: UTF8.self).last,
            let next = String(decoding: head, as: UTF8.self).first
        else { return true }
        return (String(cluster) + String(next)).first?.utf8.count == cluster.utf8.count
    }

    private static func kind(of scalar: Unicode.Scalar) -> TextTokens.Kind {
        switch scalar {
        case "\n", "\r", "\u{2028}", "\u{2029}": .lineBreak
        case "\u{200B}": .blank
        case _ where scalar.properties.isWhitespace: .blank
        case _ where scalar.properties.isEmojiPresentation || isOfScriptWithoutBlanks(scalar): .solo
        case "_": .word
        case _ where scalar.properties.isAlphabetic || scalar.properties.numericType != nil: .word
        default: .mark
        }
    }

    /// Whether a scalar belongs to a script that is written without blanks: Han, Hiragana, Katakana, Thai, Lao, Myanmar or
    /// Khmer. Each of its graphemes is a token. Otherwise a whole paragraph would be one word.
    private static func isOfScriptWithoutBlanks(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x0E00: false
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3041...0x30FF, 0x31F0...0x31FF, 0xA9E0...0xA9FF,
            0xAA60...0xAA7F, 0xFF66...0xFF9F, 0x1AFF0...0x1B16F:
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        default: scalar.properties.isIdeographic
        }
    }
}
