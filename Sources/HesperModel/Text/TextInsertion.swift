/// The text that one side inserted at one place between two tokens of the base: tokens, and whole lines that were moved to this
/// place.
struct TextInsertion {
    /// An element of an insertion: a token that the side inserted, or a whole line that the side moved to this place.
    struct Element {
        /// The index of the token, or of the first token of the moved line, in the text of the side.
        let token: Int
        /// The line of the base that was moved here; nil if the element is a token.
        let movedLine: Int?
    }

    let source: TextPlan.Source
    private(set) var elements: [Element] = []
    private let text: TextTokens

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    /// Creates an insertion from a range of tokens of one side. A moved line in the range becomes a single element, which includes
    /// the changes within the line. The line is omitted, together with one line break, if the other side determines its new place,
    /// or if no token of the line is kept.
    init(_ range: Range<Int>, of source: TextPlan.Source, in plan: TextPlan, movedLine: Int? = nil) {
        self.source = source
        text = plan[source]
        let side = source == .older ? plan.older : plan.newer
        let moved = side.movedStarts
        var token = range.lowerBound
        while token < range.upperBound {
            guard !moved.isEmpty, let line = moved[token], line != movedLine, let owner = plan.owners[line],
                let sideLine = side.moves[line]
            else {
                elements.append(Element(token: token, movedLine: nil))
                token += 1
                continue
            }
            let start = token
            token = text.lines[sideLine].upperBound
            if owner == source, plan.isKept(movedLine: line) {
                elements.append(Element(token: start, movedLine: line))
            } else if token < range.upperBound, text.isBreak(token) {
                token += 1
            } else if let last = elements.last, isBreak(last) {
                elements.removeLast()
            }
        }
    }

    private init(_ other: TextInsertion, _ elements: some Sequence<Element>) {
        (source, text) = (other.source, other.text)
        self.elements = Array(elements)
    }

    subscript(range: Range<Int>) -> TextInsertion { TextInsertion(self, elements[range]) }

    func isWord(_ index: Int) -> Bool {
        elements[index].movedLine != nil || text.isWord(elements[index].token)
    }

    func isBreak(_ index: Int) -> Bool { isBreak(elements[index]) }

    func isGap(_ index: Int) -> Bool {
        elements[index].movedLine == nil && text.kinds[elements[index].token].isGap
    }

    var hasWords: Bool { elements.indices.contains(where: isWord) }
    var beginsWithBreak: Bool { !isEmpty && isBreak(0) }
    var endsWithBreak: Bool { !isEmpty && isBreak(count - 1) }
    /// Whether the insertion begins with a line break or a moved line.
    var beginsLine: Bool { beginsWithBreak || elements.first?.movedLine != nil }
    /// Whether the insertion ends with a line break or a moved line.
    var endsLine: Bool { endsWithBreak || elements.last?.movedLine != nil }

    private func isBreak(_ element: Element) -> Bool { element.movedLine == nil && text.isBreak(element.token) }

    /// Whether two elements are tokens with the same bytes. A moved line equals no other element.
    func isSame(_ index: Int, _ other: TextInsertion, _ otherIndex: Int) -> Bool {
        let (one, two) = (elements[index], other.elements[otherIndex])
        return one.movedLine == nil && two.movedLine == nil
            && text.bytes(of: one.token).elementsEqual(other.text.bytes(of: two.token))
    }

    /// The number of equal elements with which both insertions begin.
    func commonPrefix(_ other: TextInsertion) -> Int {
        var common = 0
        while common < min(count, other.count), isSame(common, other, common) { common += 1 }
        return common
    }

    /// The number of equal elements with which both insertions end.
    func commonSuffix(_ other: TextInsertion) -> Int {
        var common = 0
        while common < min(count, other.count), isSame(count - 1 - common, other, other.count - 1 - common) {
            common += 1
        }
        return common
    }

    /// The insertion without its last element.
    func dropLast() -> TextInsertion { TextInsertion(self, elements.dropLast()) }

    /// The insertion followed by another insertion of the same side.
    func adding(_ other: TextInsertion) -> TextInsertion { TextInsertion(self, elements + other.elements) }
}

/// A gap (a place between two tokens of the base) where both sides inserted text (merge.md, Text, rule 5).
struct TextGap {
    /// Whether a line of the base starts at this gap.
    let startsLine: Bool
    /// Whether a line of the base ends at this gap.
    let endsLine: Bool

    /// Both insertions, in the order in which the result contains them. Whole lines with which both insertions begin, or with
    /// which both end, are written once.
    func ordered(_ older: TextInsertion, _ newer: TextInsertion) -> [TextInsertion] {
        if older.isEmpty { return [newer] }
        if newer.isEmpty { return [older] }
        if isPart(older, of: newer) { return [newer] }
        if isPart(newer, of: older) { return [older] }
        let (rank, newerRank) = (rank(older), rank(newer))
        if rank != newerRank { return rank < newerRank ? [older, newer] : [newer, older] }
        let start = commonStart(older, newer)
        let end = commonEnd(older[start..<older.count], newer[start..<newer.count])
        let rest = joined(older[start..<(older.count - end)], newer[start..<(newer.count - end)])
        return [newer[0..<start]] + rest + [newer[(newer.count - end)..<newer.count]]
    }

    /// Whether `one` equals `other`, or consists only of blanks and line breaks and is a prefix or suffix of `other`.
    private func isPart(_ one: TextInsertion, of other: TextInsertion) -> Bool {
        let prefix = one.commonPrefix(other)
        if one.count == other.count, prefix == one.count { return true }
        return one.elements.indices.allSatisfy(one.isGap)
            && (prefix == one.count || one.commonSuffix(other) == one.count)
    }

    /// The position of an insertion relative to other insertions at the same gap: 0 if it continues the line before the gap, 1 if
    /// it consists of whole lines, and 2 if it begins the line after the gap.
    private func rank(_ insertion: TextInsertion) -> Int {
        if !startsLine, !insertion.beginsLine { return 0 }
        return !endsLine && !insertion.endsLine ? 2 : 1
    }

    /// Whether each line of an insertion has its line break at its start rather than at its end.
    private func isLeading(_ insertion: TextInsertion) -> Bool { !startsLine && insertion.beginsWithBreak }

    /// The number of elements in the whole lines with which both insertions begin. Trailing blank lines are not counted. They
    /// remain in both insertions, because they separate paragraphs.
    private func commonStart(_ one: TextInsertion, _ other: TextInsertion) -> Int {
        guard startsLine || isLeading(one) else { return 0 }
        var common = one.commonPrefix(other)
        while common > 0, !isStart(common, one, other) { common -= 1 }
        return common > 0 && (0..<common).contains(where: one.isWord) ? common : 0
    }

    private func isStart(_ common: Int, _ one: TextInsertion, _ other: TextInsertion) -> Bool {
        if one.isBreak(common - 1) { return !isLeading(one) && common > 1 && !one.isGap(common - 2) }
        return !one.isGap(common - 1) && endsLine(one, common) && endsLine(other, common)
    }

    private func endsLine(_ insertion: TextInsertion, _ end: Int) -> Bool {
        end < insertion.count ? insertion.isBreak(end) : endsLine
    }

    /// The number of elements in the whole lines at the end of `one` that are also at the end of `other`.
    private func commonEnd(_ one: TextInsertion, _ other: TextInsertion) -> Int {
        guard !one.isEmpty, !other.isEmpty, endsLine || one.endsWithBreak else { return 0 }
        var common = one.commonSuffix(other)
        while common > 0, !isEnd(common, one, other) { common -= 1 }
        return common > 0 && ((one.count - common)..<one.count).contains(where: one.isWord) ? common : 0
    }

    private func isEnd(_ common: Int, _ one: TextInsertion, _ other: TextInsertion) -> Bool {
        let start = one.count - common
        if isLeading(one) { return endsLine && common > 1 && one.isBreak(start) && !one.isGap(start + 1) }
        return !one.isGap(start) && begins(one, start) && begins(other, other.count - common)
    }

    private func begins(_ insertion: TextInsertion, _ start: Int) -> Bool {
        start > 0 ? insertion.isBreak(start - 1) : startsLine
    }

    /// `one`, followed by `other`. If both begin with a line break, and `one` also ends with a line break, the line break at the
    /// end of `one` is removed. If `other` does not end with a line break, the removed line break is added to its end.
    private func joined(_ one: TextInsertion, _ other: TextInsertion) -> [TextInsertion] {
        guard endsLine, isLeading(one), one.count > 1, one.endsWithBreak, other.beginsWithBreak else {
            return [one, other]
        }
        let end = one[(one.count - 1)..<one.count]
        return other.endsWithBreak ? [one.dropLast(), other] : [one.dropLast(), other, end]
    }
}
