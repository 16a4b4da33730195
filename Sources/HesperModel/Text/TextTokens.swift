/// A text, split into tokens: line breaks, runs of blanks, words, and other graphemes. No token splits a grapheme cluster.
struct TextTokens: Sendable {
    /// The kind of a token. It determines how the token is aligned, and which tokens may be next to it.
    enum Kind: UInt8, Sendable {
        /// A line break: LF, CR LF, CR, U+2028 or U+2029.
        case lineBreak
        /// A run of blanks.
        case blank
        /// One grapheme that is punctuation or a symbol.
        case mark
        /// A run of letters and digits.
        case word
        /// One grapheme of a script written without blanks, or one emoji.
        case solo

        var isWord: Bool { self == .word || self == .solo }

        var isGap: Bool { self == .lineBreak || self == .blank }
    }

    let bytes: [UInt8]
    private(set) var kinds: [Kind] = []
    /// The offset in `bytes` at which each token starts, and the end of the last token. The offsets are UInt32 to save memory.
    private var offsets: [UInt32] = [0]
    /// The range of the tokens of each line, without the line break that ends the line. The last line has no line break and may
    /// be empty.
    private(set) var lines: [Range<Int>] = []
    /// For each line, a number that identifies its content: two lines have equal numbers if and only if they have the same bytes.
    /// Swift's `==` for strings would consider "é" equal to "e" with a combining accent, but a merge must preserve bytes.
    private(set) var lineNumbers: [Int32] = []

    var count: Int { kinds.count }

    /// Splits a text. Equal lines get equal numbers in all texts that share `numbers`.
    init(_ text: String, numbers: inout TextNumbers) {
        bytes = Array(text.utf8)
        split()
        var start = 0
        for token in kinds.indices where kinds[token] == .lineBreak {
            lines.append(start..<token)
            start = token + 1
        }
        lines.append(start..<count)
        lineNumbers = lines.map { numbers.number(of: bytes(of: $0)) }
    }

    /// The bytes of one token.
    func bytes(of token: Int) -> ArraySlice<UInt8> { bytes[Int(offsets[token])..<Int(offsets[token + 1])] }

    /// The bytes of a range of tokens.
    func bytes(of tokens: Range<Int>) -> ArraySlice<UInt8> {
        bytes[Int(offsets[tokens.lowerBound])..<Int(offsets[tokens.upperBound])]
    }

    func isWord(_ token: Int) -> Bool { kinds[token].isWord }

    func isBreak(_ token: Int) -> Bool { kinds[token] == .lineBreak }

    /// Whether a range of tokens contains a word.
    func hasWords(_ range: Range<Int>) -> Bool { kinds[range].contains(where: \.isWord) }

    /// Whether a line starts at this token. The end of the text is allowed as an index.
    func startsLine(_ token: Int) -> Bool { token == 0 || kinds[token - 1] == .lineBreak }

    /// Whether a line ends just before this token. The end of the text is allowed as an index.
    func endsLine(_ token: Int) -> Bool { token == count || kinds[token] == .lineBreak }

    /// Whether two tokens of this text have the same bytes.
    func isSame(_ one: Int, _ other: Int) -> Bool {
        kinds[one] == kinds[other] && bytes(of: one).elementsEqual(bytes(of: other))
    }

    /// The lines that contain words. Blank lines and rules such as "---" contain none.
    var linesWithWords: [Int] { lines.indices.filter { hasWords(lines[$0]) } }

    /// The line of each token. A line break belongs to the line that it ends.
    var lineOfTokens: [Int32] {
        var lineOfTokens: [Int32] = []
        lineOfTokens.reserveCapacity(count + 1)
        for (line, tokens) in lines.enumerated() {
            for _ in tokens { lineOfTokens.append(Int32(truncatingIfNeeded: line)) }
            lineOfTokens.append(Int32(truncatingIfNeeded: line))
        }
        return lineOfTokens
    }

    /// Splits the bytes into tokens. Any two ASCII bytes except CR LF have a grapheme boundary between them, so Swift's slower
    /// grapheme breaking is used only for other bytes.
    private mutating func split() {
        let asciiKinds = TextGrapheme.asciiKinds
        var builder = TokenBuilder(capacity: bytes.count / 3)
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                if bytes[index] == 0x0D, index + 1 < bytes.count, bytes[index + 1] == 0x0A {
                    index += 2
                    builder.add(.lineBreak, endingAt: index)
                } else if bytes[index] < 0x80, index + 1 == bytes.count || bytes[index + 1] < 0x80 {
                    let kind = asciiKinds[Int(bytes[index])]
                    repeat {
                        index += 1
                    } while (kind == .word || kind == .blank) && index < bytes.count && bytes[index] < 0x80
                        && asciiKinds[Int(bytes[index])] == kind
                        && (index + 1 == bytes.count || bytes[index + 1] < 0x80)
                    builder.add(kind, endingAt: index)
                } else {
                    var end = index + 1
                    while end < bytes.count, bytes[end - 1] >= 0x80 || bytes[end] >= 0x80 { end += 1 }
                    if end < bytes.count, bytes[end - 1] == 0x0D, bytes[end] == 0x0A { end -= 1 }
                    for grapheme in String(decoding: bytes[index..<end], as: UTF8.self) {
                        let shape = TextGrapheme(grapheme)
                        index += shape.byteCount
                        builder.add(shape.kind, endingAt: index)
                    }
                }
            }
        }
        (kinds, offsets) = (builder.kinds, builder.offsets)
    }
}

/// Builds tokens from graphemes.
private struct TokenBuilder {
    private(set) var kinds: [TextTokens.Kind] = []
    private(set) var offsets: [UInt32] = [0]
    private var last: TextTokens.Kind?

    init(capacity: Int) {
        kinds.reserveCapacity(capacity)
        offsets.reserveCapacity(capacity)
    }

    /// Adds a grapheme. If the grapheme and the preceding token are both words or both blanks, the grapheme becomes part of that
    /// token. Otherwise, it becomes a new token.
    mutating func add(_ kind: TextTokens.Kind, endingAt end: Int) {
        if kind == last, kind == .word || kind == .blank {
            offsets[offsets.count - 1] = UInt32(end)
        } else {
            kinds.append(kind)
            offsets.append(UInt32(end))
            last = kind
        }
    }
}
