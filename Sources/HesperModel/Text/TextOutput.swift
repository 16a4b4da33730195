/// Writes the merged text, with separators between tokens that are not adjacent in any of the texts (merge.md, Text, rule 7).
struct TextOutput {
    private let plan: TextPlan
    private(set) var bytes: [UInt8] = []
    /// The most recently written token; nil if none was written.
    private var last: (source: TextPlan.Source, token: Int)?
    /// Whether a line break must be written before the next token.
    private var mustEndLine = false
    /// The most recent line break of the base that was omitted after the most recently written token.
    private var skippedBreak: Int?
    /// For each mark, the byte offset in the output; nil until a token is written after the mark.
    private var marks: [Int?] = []
    private var pendingMarks = 0
    /// The line break to insert where the base has none. It is the first line break in the texts, or LF.
    private let lineEnd: [UInt8]

    init(plan: TextPlan) {
        self.plan = plan
        let texts = [plan.base, plan.older.tokens, plan.newer.tokens]
        lineEnd =
            texts.lazy.compactMap { text in text.kinds.firstIndex(of: .lineBreak).map { Array(text.bytes(of: $0)) } }
            .first ?? [0x0A]
        bytes.reserveCapacity(plan.older.tokens.bytes.count + plan.newer.tokens.bytes.count)
    }

    /// Writes one token.
    mutating func append(_ source: TextPlan.Source, _ token: Int) {
        guard separate(source, token) else { return }
        while pendingMarks > 0 {
            marks[marks.count - pendingMarks] = bytes.count
            pendingMarks -= 1
        }
        bytes += plan[source].bytes(of: token)
        last = (source, token)
    }

    /// Writes a range of tokens of the base.
    mutating func append(_ tokens: Range<Int>) {
        if tokens.isEmpty { return }
        append(TextPlan.Source.base, tokens.lowerBound)
        if tokens.count == 1 { return }
        bytes += plan.base.bytes(of: tokens.dropFirst())
        last = (.base, tokens.upperBound - 1)
    }

    /// Records that a token of the base is omitted.
    mutating func skip(_ token: Int) {
        if plan.base.isBreak(token) { skippedBreak = token }
    }

    /// Ensures that a line break separates the output so far from the next token.
    mutating func endLine() {
        if let last, !plan[last.source].isBreak(last.token) { mustEndLine = true }
    }

    /// Sets a mark at the start of the next token. If a separator is inserted before that token, the mark is after the separator.
    /// Returns the index of the mark.
    mutating func mark() -> Int {
        marks.append(nil)
        pendingMarks += 1
        return marks.count - 1
    }

    /// The range of bytes that was written since a mark.
    func range(from mark: Int) -> Range<Int> { (marks[mark] ?? bytes.count)..<bytes.count }

    /// Writes a separator before a token if necessary. Returns false if the token is a blank that the separator replaces.
    private mutating func separate(_ source: TextPlan.Source, _ token: Int) -> Bool {
        defer { (skippedBreak, mustEndLine) = (nil, false) }
        let next: Token = (source, token)
        guard let last, mustEndLine || !areAdjacent(last, next) else { return true }
        let (tail, head) = (plan[last.source], plan[source])
        let (tailKind, headKind) = (tail.kinds[last.token], head.kinds[token])
        if tailKind == .lineBreak {
            // The CR of one text and the LF of another must not form CR LF, so the CR is removed.
            if bytes.last == 0x0D, head.bytes(of: token).first == 0x0A { bytes.removeLast() }
            return true
        }
        if headKind == .lineBreak { return true }
        let ends = isAtLineEnd(last)
        let starts = isAtLineStart(next)
        if mustEndLine || ends && starts || skippedBreak != nil && (ends || starts) {
            // A blank that was between words is not needed at the start or end of a line.
            if tailKind == .blank, !ends { bytes.removeLast(tail.bytes(of: last.token).count) }
            bytes += skippedBreak.map { Array(plan.base.bytes(of: $0)) } ?? lineEnd
            return headKind != .blank || starts
        }
        if tailKind == .blank, headKind == .blank {
            if head.bytes(of: token).count <= tail.bytes(of: last.token).count { return false }
            bytes.removeLast(tail.bytes(of: last.token).count)
            return true
        }
        let isFused =
            tailKind == .word && headKind == .word
            || !TextGrapheme.haveBoundary(tail.bytes(of: last.token), head.bytes(of: token))
        if isFused {
            // A space and a combining mark after it form one grapheme. If the next token begins with such a mark, a line break is
            // therefore written instead of a space. After a line break, the mark remains a grapheme of its own.
            bytes += TextGrapheme.haveBoundary([0x20], head.bytes(of: token)) ? [0x20] : lineEnd
        }
        return true
    }

    private typealias Token = (source: TextPlan.Source, token: Int)

    /// Whether two tokens are adjacent in one of the texts.
    private func areAdjacent(_ one: Token, _ other: Token) -> Bool {
        if one.source == other.source, one.token + 1 == other.token { return true }
        for source in [TextPlan.Source.older, .newer] {
            guard let position = position(of: one, in: source), let next = self.position(of: other, in: source) else {
                continue
            }
            if position + 1 == next { return true }
        }
        return false
    }

    private func position(of token: Token, in source: TextPlan.Source) -> Int? {
        if token.source == source { return token.token }
        guard token.source == .base else { return nil }
        let position = source == .older ? plan.older.positions[token.token] : plan.newer.positions[token.token]
        return position >= 0 ? Int(position) : nil
    }

    /// Whether a token is the last one of its line in every text that has the token.
    private func isAtLineEnd(_ token: Token) -> Bool {
        plan[token.source].endsLine(token.token + 1)
            && [TextPlan.Source.older, .newer].allSatisfy { source in
                position(of: token, in: source).map { plan[source].endsLine($0 + 1) } ?? true
            }
    }

    /// Whether a token is the first one of its line in every text that has the token.
    private func isAtLineStart(_ token: Token) -> Bool {
        plan[token.source].startsLine(token.token)
            && [TextPlan.Source.older, .newer].allSatisfy { source in
                position(of: token, in: source).map { plan[source].startsLine($0) } ?? true
            }
    }
}
