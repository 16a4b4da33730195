/// A text cut into words, blanks and line breaks, none of which splits a grapheme cluster.
///
/// Tokens and lines carry numbers: two have one number exactly when they have the same bytes. Swift's `==` on strings
/// would also call "é" equal to "e" with a combining accent, and a merge must keep what was written.
struct TextTokens: Sendable {
    /// What a token is, which decides what may stand beside it and what counts as somebody's words.
    enum Kind: UInt8, Sendable {
        /// What stands between blanks, without the punctuation that closes it.
        case word
        /// One grapheme of a script written without blanks, or one emoji.
        case solo
        /// Punctuation that closes a word: the "," of "milk,".
        case closing
        case blank
        /// A line break: LF, CR LF, CR, U+2028 or U+2029.
        case lineBreak
    }

    private(set) var bytes: [UInt8]
    private(set) var numbers: [Int32] = []
    private(set) var kinds: [Kind] = []
    /// Where each token starts in `bytes`; one more at the end.
    private(set) var offsets: [Int] = [0]
    private(set) var lineNumbers: [Int32] = []
    /// The token that each line starts with; one more at the end. A line owns the break that ends it.
    private(set) var lineStarts: [Int] = [0]

    var count: Int { numbers.count }

    init(_ text: ArraySlice<UInt8>, words: inout TextNumbers, lines: inout TextNumbers) {
        bytes = Array(text)
        cut()
        numbers.reserveCapacity(kinds.count)
        for token in kinds.indices {
            numbers.append(words.number(of: bytes[offsets[token]..<offsets[token + 1]]))
            if kinds[token] == .lineBreak { lineStarts.append(token + 1) }
        }
        if lineStarts[lineStarts.count - 1] < kinds.count { lineStarts.append(kinds.count) }
        for line in lineStarts.indices.dropLast() {
            let range = offsets[lineStarts[line]]..<offsets[lineStarts[line + 1]]
            lineNumbers.append(lines.number(of: bytes[range]))
        }
    }

    /// The bytes of one token.
    func bytes(of token: Int) -> ArraySlice<UInt8> { bytes[offsets[token]..<offsets[token + 1]] }

    /// Whether a range of tokens holds anything but blanks, breaks and closing punctuation.
    func hasWords(_ range: Range<Int>) -> Bool { range.contains(where: isWord) }

    /// Whether a token is more than a blank, a break or closing punctuation.
    func isWord(_ token: Int) -> Bool { kinds[token] == .word || kinds[token] == .solo }

    func hasBreaks(_ range: Range<Int>) -> Bool { kinds[range].contains(.lineBreak) }

    func isBreak(_ token: Int) -> Bool { token >= 0 && token < count && kinds[token] == .lineBreak }

    func isGap(_ token: Int) -> Bool {
        token >= 0 && token < count && (kinds[token] == .lineBreak || kinds[token] == .blank)
    }

    /// Between two ASCII bytes there is a boundary of graphemes, but in CR LF; only around others must one look closely.
    private mutating func cut() {
        var cutter = TextCutter(kinds: kinds, offsets: offsets)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x0D, index + 1 < bytes.count, bytes[index + 1] == 0x0A {
                cutter.add(.lineBreak, byteCount: 2)
                index += 2
            } else if bytes[index] < 0x80, index + 1 == bytes.count || bytes[index + 1] < 0x80 {
                cutter.add(TextGrapheme.asciiKinds[Int(bytes[index])], byteCount: 1)
                index += 1
            } else {
                var end = index + 1
                while end < bytes.count, bytes[end - 1] >= 0x80 || bytes[end] >= 0x80 { end += 1 }
                if end < bytes.count, bytes[end - 1] == 0x0D, bytes[end] == 0x0A { end -= 1 }
                for grapheme in String(decoding: bytes[index..<end], as: UTF8.self) {
                    let shape = TextGrapheme(grapheme)
                    cutter.add(shape.kind, byteCount: shape.byteCount)
                }
                index = end
            }
        }
        cutter.finish()
        (kinds, offsets) = (cutter.kinds, cutter.offsets)
    }
}

/// Puts graphemes together into tokens.
private struct TextCutter {
    var kinds: [TextTokens.Kind]
    var offsets: [Int]
    private var end = 0
    /// The kind of the token being read.
    private var open: TextTokens.Kind?
    /// Where the closing punctuation at the end of the word being read starts.
    private var closingStart: Int?

    init(kinds: [TextTokens.Kind], offsets: [Int]) {
        self.kinds = kinds
        self.offsets = offsets
    }

    mutating func add(_ kind: TextTokens.Kind, byteCount: Int) {
        let closes = kind == .closing
        let goesOn = open == .word && (kind == .word || closes) || open == .blank && kind == .blank
        if !goesOn {
            finish()
            open = closes ? .word : kind
        }
        if !closes {
            closingStart = nil
        } else if closingStart == nil {
            closingStart = end
        }
        end += byteCount
    }

    mutating func finish() {
        guard let kind = open else { return }
        // Punctuation alone is a word: somebody wrote it.
        if kind == .word, let cut = closingStart, cut > offsets[offsets.count - 1] {
            kinds.append(.word)
            offsets.append(cut)
            kinds.append(.closing)
        } else {
            kinds.append(kind)
        }
        offsets.append(end)
        open = nil
        closingStart = nil
    }
}
