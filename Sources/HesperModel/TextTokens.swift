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

    init(_ text: String, words: inout TextNumbers, lines: inout TextNumbers) {
        bytes = Array(text.utf8)
        cut(text)
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
    func hasWords(_ range: Range<Int>) -> Bool { kinds[range].contains { $0 == .word || $0 == .solo } }

    func hasBreaks(_ range: Range<Int>) -> Bool { kinds[range].contains(.lineBreak) }

    func isBreak(_ token: Int) -> Bool { token >= 0 && token < count && kinds[token] == .lineBreak }

    func isGap(_ token: Int) -> Bool {
        token >= 0 && token < count && (kinds[token] == .lineBreak || kinds[token] == .blank)
    }

    private mutating func cut(_ text: String) {
        var end = 0
        /// Where the closing punctuation at the end of the word being read starts.
        var closingStart: Int?
        var open: Kind?

        func finish(_ tokens: inout TextTokens) {
            guard let kind = open else { return }
            let start = tokens.offsets[tokens.offsets.count - 1]
            if kind == .word, let cut = closingStart, cut > start {
                tokens.kinds += [.word, .closing]
                tokens.offsets += [cut, end]
            } else {
                tokens.kinds.append(kind)
                tokens.offsets.append(end)
            }
            open = nil
            closingStart = nil
        }

        for grapheme in text {
            let shape = TextGrapheme(grapheme)
            let goesOn = shape.kind == open && (open == .word || open == .blank)
            let closes = shape.kind == .closing
            if !goesOn, !(closes && open == .word) {
                finish(&self)
                open = closes ? .word : shape.kind
            }
            if closes {
                if closingStart == nil { closingStart = end }
            } else {
                closingStart = nil
            }
            end += shape.byteCount
        }
        finish(&self)
    }
}

/// Gives equal bytes equal numbers, in the order in which they first come.
struct TextNumbers {
    private struct Key: Hashable {
        let bytes: ArraySlice<UInt8>

        static func == (one: Key, other: Key) -> Bool { one.bytes == other.bytes }

        /// Hashes the bytes at once: element by element is ten times as slow on a large text.
        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }

    private var known: [Key: Int32] = [:]

    mutating func number(of bytes: ArraySlice<UInt8>) -> Int32 {
        let next = Int32(truncatingIfNeeded: known.count)
        let key = Key(bytes: bytes)
        if let number = known[key] { return number }
        known[key] = next
        return next
    }
}
