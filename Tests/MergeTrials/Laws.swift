import HesperModel

/// The laws that every merge of texts keeps (merge.md, Text).
struct Laws {
    /// Those that a merge broke.
    private(set) var broken: [String] = []
    let outcome: TextMerge.Outcome

    private let style: TextStyle
    private let base: TrialText
    private let older: TrialText
    private let newer: TrialText
    private let merged: TrialText

    /// A law that lines which stand more than once, or which were moved, may break once in a thousand merges.
    static let tooOften = "too often: a word stands more often than in any of the three"

    init(_ triple: Triple, style: TextStyle) {
        self.style = style
        outcome = TextMerge.outcome(base: triple.base, older: triple.older, newer: triple.newer)
        base = TrialText(triple.base)
        older = TrialText(triple.older)
        newer = TrialText(triple.newer)
        merged = TrialText(outcome.text)
        checkUnchanged(triple)
        checkAges(triple)
        checkConservation()
        checkCounts()
        checkDeletions()
        checkLocality()
        if !style.moves { checkInsertions() }
        checkWhole()
        checkSuperseded()
    }

    private mutating func expect(_ holds: Bool, _ law: String) {
        if !holds, !broken.contains(law) { broken.append(law) }
    }

    private mutating func checkUnchanged(_ triple: Triple) {
        let (base, side) = (triple.base, triple.older)
        expect(
            [(base, side), (side, base), (side, side)].allSatisfy {
                isSame(TextMerge.merge(base: base, older: $0, newer: $1), side)
            }, "an unchanged side gives the other, equal sides themselves")
    }

    private mutating func checkAges(_ triple: Triple) {
        let other = TextMerge.outcome(base: triple.base, older: triple.newer, newer: triple.older)
        if outcome.superseded.isEmpty, other.superseded.isEmpty {
            expect(TrialText(other.text).counts == merged.counts, "without a contest either age has the same words")
        }
    }

    private mutating func checkConservation() {
        let superseded = Set(outcome.superseded.flatMap { TrialText($0.text).words })
        for side in [older, newer] {
            for word in side.counts.keys where base.count(word) == 0 {
                expect(merged.count(word) > 0 || superseded.contains(word), "conservation: every new word stands")
            }
        }
    }

    private mutating func checkCounts() {
        for (word, count) in merged.counts {
            expect(count <= max(base.count(word), older.count(word), newer.count(word)), Self.tooOften)
        }
    }

    private mutating func checkDeletions() {
        let lines = base.lines.counted
        for (one, other) in [(older, newer), (newer, older)] {
            let counts = other.lines.counted
            for line in base.lines where lines[line] == 1 && counts[line] == 1 {
                for word in TrialText(String(line)).words where base.count(word) == 1 && one.count(word) == 0 {
                    expect(merged.count(word) == 0, "deletion: a word deleted from a line left alone is gone")
                }
            }
        }
    }

    private mutating func checkLocality() {
        let counts = [base, older, newer].map(\.lines.counted)
        let untouched = base.lines.filter { line in
            counts.allSatisfy { $0[line] == 1 } && hasWords(line)
        }
        expect(Set(untouched).isSubset(of: merged.lines), "locality: a line that neither side touched stands")
        let sides = [older, newer]
        let still = style.moves ? unmoved(untouched, by: sides) : untouched
        let known = Set(still)
        let isInOrder = sides.allSatisfy { $0.lines.filter(known.contains) == still }
        if isInOrder, merged.lines.filter(known.contains) != still {
            // What was put into another line may be equal to one, and then be left alone there.
            let unique = known.filter { line in
                sides.allSatisfy { $0.lines.count { $0.contains(line) } == 1 }
            }
            expect(
                merged.lines.filter(unique.contains) == still.filter(unique.contains),
                "locality: lines that neither side touched stand in order, once")
        }
    }

    /// Those lines with words of which neither a word nor the whole changed places with another.
    private func unmoved(_ lines: [Substring], by sides: [TrialText]) -> [Substring] {
        let movedWords = sides.reduce(into: Set()) { $0.formUnion(moved(base.words, by: $1.words)) }
        let movedLines = sides.reduce(into: Set()) { $0.formUnion(moved(lines, by: $1.lines)) }
        return lines.filter { line in
            let words = TrialText(String(line)).words
            return !words.isEmpty && movedWords.isDisjoint(with: words) && !movedLines.contains(line)
        }
    }

    /// What comes before something else in the base and behind it in a side, or the other way round.
    private func moved<Element: Hashable>(_ elements: [Element], by side: [Element]) -> Set<Element> {
        let places = side.enumerated().reduce(into: [:]) { $0[$1.element] = $1.offset }
        let common = elements.filter { places[$0] != nil }
        let order = common.compactMap { places[$0] }
        return Set(
            common.indices.filter { index in
                order[..<index].contains { $0 > order[index] } || order[index...].contains { $0 < order[index] }
            }.map { common[$0] })
    }

    /// New lines between two lines of the base that follow each other.
    private mutating func checkInsertions() {
        let counts = base.lines.counted
        for side in [older, newer] {
            let sideCounts = side.lines.counted
            var above: Int?
            for index in side.lines.indices {
                let line = side.lines[index]
                guard counts[line] == 1, sideCounts[line] == 1, hasWords(line),
                    let place = base.lines.firstIndex(of: line)
                else { continue }
                if let above, index - above > 2, place > 0, base.lines[place - 1] == side.lines[above] {
                    let inserted = Array(side.lines[(above + 1)..<index])
                    let isNew = inserted.allSatisfy {
                        counts[$0] == nil && sideCounts[$0] == 1 && TrialText.word(String($0)) != nil
                            && TrialText(String($0)).words.allSatisfy { base.count($0) == 0 }
                    }
                    if isNew { expect(isTogether(inserted), "nothing interleaves inside an insertion") }
                }
                above = index
            }
        }
    }

    private func hasWords(_ line: Substring) -> Bool { line.contains { $0.isLetter || $0.isNumber } }

    private func isTogether(_ lines: [Substring]) -> Bool {
        guard let start = merged.lines.firstIndex(of: lines[0]) else { return false }
        return merged.lines[start...].starts(with: lines)
    }

    private mutating func checkWhole() {
        let texts = [base, older, newer]
        let runs = texts.reduce(into: Set<String>()) { $0.formUnion($1.runs) }
        expect(merged.runs.isSubset(of: runs), "no two words fuse")
        let graphemes = merged.graphemes.subtracting(newer.graphemes).filter { $0.utf8.count > 1 }
        expect(
            graphemes.isSubset(of: base.graphemes.union(older.graphemes)), "graphemes and CR LF stay whole")
    }

    /// What made room can be put back.
    private mutating func checkSuperseded() {
        let units = Array(outcome.text.utf16)
        var end = 0
        for superseded in outcome.superseded {
            let isInside = superseded.location >= end && superseded.location + superseded.length <= units.count
            expect(isInside, "what was superseded has a place in the text")
            guard isInside else { return }
            end = superseded.location + superseded.length
            let undone =
                String(decoding: units[..<superseded.location], as: UTF16.self) + superseded.text
                + String(decoding: units[end...], as: UTF16.self)
            let words = TrialText(superseded.text).words
            expect(
                Set(words).isSubset(of: TrialText(undone).words) && Set(words).isSubset(of: older.words),
                "what was superseded can be put back")
        }
    }
}

/// Equality of bytes: `==` would not see that "é" was spelt another way.
func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
