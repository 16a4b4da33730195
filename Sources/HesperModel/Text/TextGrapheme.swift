/// What one grapheme cluster is to the merge of texts.
struct TextGrapheme {
    let kind: TextTokens.Kind
    let byteCount: Int

    /// The kind of each ASCII character that stands alone.
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
            // A blank that carries a combining mark is something that somebody wrote.
            kind = firstKind == .blank ? .mark : firstKind
        }
    }

    /// Whether a grapheme cluster that ends in `tail` also ends there when `head` follows it.
    ///
    /// Looking at one cluster on either side is enough: every rule of UAX #29 looks back no further than the start of
    /// the cluster, as long as `tail` is a cluster of its own.
    static func areApart(_ tail: ArraySlice<UInt8>, _ head: ArraySlice<UInt8>) -> Bool {
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

    /// Han, Hiragana, Katakana, Thai, Lao, Myanmar and Khmer, of which a paragraph would otherwise be one word.
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
