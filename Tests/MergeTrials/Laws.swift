import HesperModel

/// The laws that hold for every merge of texts (merge.md, Text).
struct Laws {
    /// The laws that the merge violated.
    private(set) var violations: [String] = []
    let outcome: TextMerge.Outcome

    private let style: TextStyle
    private let base: TrialText
    private let older: TrialText
    private let newer: TrialText
    private let merged: TrialText

    /// A law that may be violated once in a thousand merges if lines repeat or were moved.
    static let tooOften = "too often: a word occurs more often than in any of the three texts"

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
        if !holds, !violations.contains(law) { violations.append(law) }
    }

    private mutating func checkUnchanged(_ triple: Triple) {
        let (base, side) = (triple.base, triple.older)
        expect(
            [(base, side), (side, base), (side, side)].allSatisfy {
                isSame(TextMerge.merge(base: base, older: $0, newer: $1), side)
            }, "unchanged: an unchanged side yields the other, equal sides yield themselves")
    }

    private mutating func checkAges(_ triple: Triple) {
        let other = TextMerge.outcome(base: triple.base, older: triple.newer, newer: triple.older)
        if outcome.superseded.isEmpty, other.superseded.isEmpty {
            expect(
                TrialText(other.text).counts == merged.counts,
                "ages: without a contest the order of the sides does not change the words")
        }
    }

    private mutating func checkConservation() {
        let superseded = Set(outcome.superseded.flatMap { TrialText($0.text).words })
        for side in [older, newer] {
            for word in side.counts.keys where base.count(word) == 0 {
                expect(
                    merged.count(word) > 0 || superseded.contains(word),
                    "conservation: every new word is kept or listed as superseded")
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
                    expect(
                        merged.count(word) == 0,
                        "deletion: a word deleted from a line that the other side did not change is deleted")
                }
            }
        }
    }

    private mutating func checkLocality() {
        let counts = [base, older, newer].map(\.lines.counted)
        let unchanged = base.lines.filter { line in
            counts.allSatisfy { $0[line] == 1 } && hasWords(line)
        }
        expect(Set(unchanged).isSubset(of: merged.lines), "locality: a line that neither side changed is kept")
        let sides = [older, newer]
        let unmovedLines = style.moves ? unmoved(unchanged, by: sides) : unchanged
        let known = Set(unmovedLines)
        let isInOrder = sides.allSatisfy { $0.lines.filter(known.contains) == unmovedLines }
        if isInOrder, merged.lines.filter(known.contains) != unmovedLines {
            // Text inserted into another line may equal a line of the base, which then counts as unchanged there.
            let unique = known.filter { line in
                sides.allSatisfy { $0.lines.count { $0.contains(line) } == 1 }
            }
            expect(
                merged.lines.filter(unique.contains) == unmovedLines.filter(unique.contains),
                "locality: lines that neither side changed are kept once, in order")
        }
    }

    /// The lines with words, of which neither a word nor the whole line was reordered.
    private func unmoved(_ lines: [Substring], by sides: [TrialText]) -> [Substring] {
        let movedWords = sides.reduce(into: Set()) { $0.formUnion(moved(base.words, by: $1.words)) }
        let movedLines = sides.reduce(into: Set()) { $0.formUnion(moved(lines, by: $1.lines)) }
        return lines.filter { line in
            let words = TrialText(String(line)).words
            return !words.isEmpty && movedWords.isDisjoint(with: words) && !movedLines.contains(line)
        }
    }

    /// The elements whose order relative to another element differs between the base and a side.
    private func moved<Element: Hashable>(_ elements: [Element], by side: [Element]) -> Set<Element> {
        let positions = side.enumerated().reduce(into: [:]) { $0[$1.element] = $1.offset }
        let common = elements.filter { positions[$0] != nil }
        let order = common.compactMap { positions[$0] }
        return Set(
            common.indices.filter { index in
                order[..<index].contains { $0 > order[index] } || order[index...].contains { $0 < order[index] }
            }.map { common[$0] })
    }

    /// Insertions of whole lines between two adjacent lines of the base stay together.
    private mutating func checkInsertions() {
        let counts = base.lines.counted
        for side in [older, newer] {
            let sideCounts = side.lines.counted
            var above: Int?
            for index in side.lines.indices {
                let line = side.lines[index]
                guard counts[line] == 1, sideCounts[line] == 1, hasWords(line),
                    let position = base.lines.firstIndex(of: line)
                else { continue }
                if let above, index - above > 2, position > 0, base.lines[position - 1] == side.lines[above] {
                    let inserted = Array(side.lines[(above + 1)..<index])
                    let isNew = inserted.allSatisfy {
                        counts[$0] == nil && sideCounts[$0] == 1 && TrialText.word(String($0)) != nil
                            && TrialText(String($0)).words.allSatisfy { base.count($0) == 0 }
                    }
                    if isNew { expect(isTogether(inserted), "insertion: inserted lines are not interleaved") }
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
        expect(merged.runs.isSubset(of: runs), "words: no two words are joined")
        let graphemes = merged.graphemes.subtracting(newer.graphemes).filter { $0.utf8.count > 1 }
        expect(
            graphemes.isSubset(of: base.graphemes.union(older.graphemes)), "graphemes: no grapheme or CR LF is split")
    }

    /// Superseded words can be restored with their location.
    private mutating func checkSuperseded() {
        let units = Array(outcome.text.utf16)
        var end = 0
        for superseded in outcome.superseded {
            let isInside = superseded.location >= end && superseded.location + superseded.length <= units.count
            expect(isInside, "superseded: the location is within the text")
            guard isInside else { return }
            end = superseded.location + superseded.length
            let undone =
                String(decoding: units[..<superseded.location], as: UTF16.self) + superseded.text
                + String(decoding: units[end...], as: UTF16.self)
            let words = TrialText(superseded.text).words
            expect(
                Set(words).isSubset(of: TrialText(undone).words) && Set(words).isSubset(of: older.words),
                "superseded: the words can be restored")
        }
    }
}

/// Whether two strings have the same bytes. `==` would not distinguish different spellings of "é".
func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
