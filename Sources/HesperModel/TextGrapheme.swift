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
        if byteCount == 2, first == "\r" {
            kind = .lineBreak
        } else if scalars.index(after: scalars.startIndex) == scalars.endIndex {
            kind = Self.kind(of: first)
        } else {
            // A blank or a bracket that carries a combining mark is something that somebody wrote.
            kind = Self.isSolo(first) ? .solo : .word
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
        case " ", "\t", "\u{200B}": .blank
        case ".", ",", ";", ":", "!", "?", ")", "]", "}", "\"", "'", "…", "»", "”", "’", "،", "؛", "؟": .closing
        case _ where scalar.isASCII: scalar.properties.isWhitespace ? .blank : .word
        case _ where scalar.properties.isWhitespace: .blank
        default: isSolo(scalar) ? .solo : .word
        }
    }

    /// Scripts that put no blanks between words would otherwise be one word a paragraph. Katakana stays in words, as
    /// do Thai and its like, where a letter alone means nothing.
    private static func isSolo(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x2000: false
        case 0x3001...0x309F, 0xFF01...0xFF0F, 0xFF1A...0xFF20: true
        default: scalar.properties.isIdeographic || scalar.properties.isEmoji
        }
    }
}
