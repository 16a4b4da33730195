/// A text cut into line ends, runs of blanks, words and other graphemes, none of which splits a grapheme cluster.
struct TextTokens: Sendable {
    /// What a token is, which decides what aligns two texts and what may stand beside it.
    enum Kind: UInt8, Sendable {
        /// LF, CR LF, CR, U+2028 or U+2029.
        case lineBreak
        /// A run of blanks.
        case blank
        /// One grapheme of punctuation, or a symbol.
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
    /// Where each token starts in `bytes`; one more at the end. Half as wide as an index: a large text has many.
    private var offsets: [UInt32] = [0]
    /// The tokens of each line, without the break that ends it. The last line has none; it may be empty.
    private(set) var lines: [Range<Int>] = []
    /// Two lines have one number exactly when they have the same bytes. Swift's `==` on strings would also call "é"
    /// equal to "e" with a combining accent, and a merge must keep what was written.
    private(set) var lineNumbers: [Int32] = []

    var count: Int { kinds.count }

    /// Cuts a text; equal lines get equal numbers in all texts that share `numbers`.
    init(_ text: String, numbers: inout TextNumbers) {
        bytes = Array(text.utf8)
        cut()
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

    /// The bytes of some tokens.
    func bytes(of tokens: Range<Int>) -> ArraySlice<UInt8> {
        bytes[Int(offsets[tokens.lowerBound])..<Int(offsets[tokens.upperBound])]
    }

    func isWord(_ token: Int) -> Bool { kinds[token].isWord }

    func isBreak(_ token: Int) -> Bool { kinds[token] == .lineBreak }

    /// Whether a range of tokens holds a word.
    func hasWords(_ range: Range<Int>) -> Bool { kinds[range].contains(where: \.isWord) }

    /// Whether a line starts before this token, which may be the end of the text.
    func startsLine(_ token: Int) -> Bool { token == 0 || kinds[token - 1] == .lineBreak }

    /// Whether a line ends before this token, which may be the end of the text.
    func endsLine(_ token: Int) -> Bool { token == count || kinds[token] == .lineBreak }

    /// Whether two tokens of one text have the same bytes.
    func isSame(_ one: Int, _ other: Int) -> Bool {
        kinds[one] == kinds[other] && bytes(of: one).elementsEqual(bytes(of: other))
    }

    /// The lines that hold words: neither blank ones nor rules such as "---".
    var linesWithWords: [Int] { lines.indices.filter { hasWords(lines[$0]) } }

    /// The line that holds each token; a break is part of the line that it ends.
    var lineOfTokens: [Int32] {
        var lineOfTokens: [Int32] = []
        lineOfTokens.reserveCapacity(count + 1)
        for (line, tokens) in lines.enumerated() {
            for _ in tokens { lineOfTokens.append(Int32(truncatingIfNeeded: line)) }
            lineOfTokens.append(Int32(truncatingIfNeeded: line))
        }
        return lineOfTokens
    }

    /// Between two ASCII bytes there is a boundary of graphemes, but in CR LF; only around others must one look closely.
    private mutating func cut() {
        let asciiKinds = TextGrapheme.asciiKinds
        var cutter = TextCutter(capacity: bytes.count / 3)
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index < bytes.count {
                if bytes[index] == 0x0D, index + 1 < bytes.count, bytes[index + 1] == 0x0A {
                    index += 2
                    cutter.add(.lineBreak, endingAt: index)
                } else if bytes[index] < 0x80, index + 1 == bytes.count || bytes[index + 1] < 0x80 {
                    let kind = asciiKinds[Int(bytes[index])]
                    repeat {
                        index += 1
                    } while (kind == .word || kind == .blank) && index < bytes.count && bytes[index] < 0x80
                        && asciiKinds[Int(bytes[index])] == kind
                        && (index + 1 == bytes.count || bytes[index + 1] < 0x80)
                    cutter.add(kind, endingAt: index)
                } else {
                    var end = index + 1
                    while end < bytes.count, bytes[end - 1] >= 0x80 || bytes[end] >= 0x80 { end += 1 }
                    if end < bytes.count, bytes[end - 1] == 0x0D, bytes[end] == 0x0A { end -= 1 }
                    for grapheme in String(decoding: bytes[index..<end], as: UTF8.self) {
                        let shape = TextGrapheme(grapheme)
                        index += shape.byteCount
                        cutter.add(shape.kind, endingAt: index)
                    }
                }
            }
        }
        (kinds, offsets) = (cutter.kinds, cutter.offsets)
    }
}

/// Puts graphemes together into tokens.
private struct TextCutter {
    private(set) var kinds: [TextTokens.Kind] = []
    private(set) var offsets: [UInt32] = [0]
    private var last: TextTokens.Kind?

    init(capacity: Int) {
        kinds.reserveCapacity(capacity)
        offsets.reserveCapacity(capacity)
    }

    /// Adds a grapheme: to the word or the blanks before it, or as a token of its own.
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
