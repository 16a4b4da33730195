/// The merged text, with what must stand between tokens that follow each other in no text (merge.md, Text, rule 7).
struct TextOutput {
    private let plan: TextPlan
    private(set) var bytes: [UInt8] = []
    /// The last token written.
    private var last: (source: TextPlan.Source, token: Int)?
    /// Whether what is written ends a line, whatever comes next.
    private var mustEndLine = false
    /// The last line end of the base that was left out behind what is written.
    private var skippedBreak: Int?
    /// Where each mark is in the bytes; nil as long as nothing is written behind it.
    private var marks: [Int?] = []
    private var pendingMarks = 0
    /// What separates lines where no line end of the base does.
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

    /// Writes tokens of the base.
    mutating func append(_ tokens: Range<Int>) {
        if tokens.isEmpty { return }
        append(TextPlan.Source.base, tokens.lowerBound)
        if tokens.count == 1 { return }
        bytes += plan.base.bytes(of: tokens.dropFirst())
        last = (.base, tokens.upperBound - 1)
    }

    /// Notes that a token of the base is left out.
    mutating func skip(_ token: Int) {
        if plan.base.isBreak(token) { skippedBreak = token }
    }

    /// Lets a new line begin with what is written next, unless that is a line end.
    mutating func endLine() {
        if let last, !plan[last.source].isBreak(last.token) { mustEndLine = true }
    }

    /// Sets a mark before what is written next, behind the separator if one comes first.
    mutating func mark() -> Int {
        marks.append(nil)
        pendingMarks += 1
        return marks.count - 1
    }

    /// What was written since a mark.
    func range(from mark: Int) -> Range<Int> { (marks[mark] ?? bytes.count)..<bytes.count }

    /// Puts a separator before a token, where one is needed; false if the token is a blank that a separator stands for.
    private mutating func separate(_ source: TextPlan.Source, _ token: Int) -> Bool {
        defer { (skippedBreak, mustEndLine) = (nil, false) }
        let next: Token = (source, token)
        guard let last, mustEndLine || !isNatural(last, next) else { return true }
        let (tail, head) = (plan[last.source], plan[source])
        let (tailKind, headKind) = (tail.kinds[last.token], head.kinds[token])
        if tailKind == .lineBreak {
            // A CR and an LF of two texts would become one line end.
            if bytes.last == 0x0D, head.bytes(of: token).first == 0x0A { bytes.removeLast() }
            return true
        }
        if headKind == .lineBreak { return true }
        let ends = isAtLineEnd(last)
        let starts = isAtLineStart(next)
        if mustEndLine || ends && starts || skippedBreak != nil && (ends || starts) {
            // A blank that was between words is none at the end or the start of a line.
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
            || !TextGrapheme.areApart(tail.bytes(of: last.token), head.bytes(of: token))
        if isFused {
            // A combining mark would sit on a space; on nothing but a line end does it stay alone.
            bytes += TextGrapheme.areApart([0x20], head.bytes(of: token)) ? [0x20] : lineEnd
        }
        return true
    }

    private typealias Token = (source: TextPlan.Source, token: Int)

    /// Whether two tokens follow each other in one of the texts.
    private func isNatural(_ one: Token, _ other: Token) -> Bool {
        if one.source == other.source, one.token + 1 == other.token { return true }
        for source in [TextPlan.Source.older, .newer] {
            guard let place = place(of: one, in: source), let next = self.place(of: other, in: source) else { continue }
            if place + 1 == next { return true }
        }
        return false
    }

    private func place(of token: Token, in source: TextPlan.Source) -> Int? {
        if token.source == source { return token.token }
        guard token.source == .base else { return nil }
        let place = source == .older ? plan.older.places[token.token] : plan.newer.places[token.token]
        return place >= 0 ? Int(place) : nil
    }

    /// Whether a line ends behind a token in every text that has it.
    private func isAtLineEnd(_ token: Token) -> Bool {
        plan[token.source].endsLine(token.token + 1)
            && [TextPlan.Source.older, .newer].allSatisfy { source in
                place(of: token, in: source).map { plan[source].endsLine($0 + 1) } ?? true
            }
    }

    /// Whether a line starts before a token in every text that has it.
    private func isAtLineStart(_ token: Token) -> Bool {
        plan[token.source].startsLine(token.token)
            && [TextPlan.Source.older, .newer].allSatisfy { source in
                place(of: token, in: source).map { plan[source].startsLine($0) } ?? true
            }
    }
}
