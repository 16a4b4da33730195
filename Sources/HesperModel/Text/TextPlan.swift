/// What is settled before two sides are woven into one text (merge.md, Text): which side has a moved line, which lines
/// come back, and which changes make room for others.
struct TextPlan {
    /// Which of two sides, or the base.
    enum Source: UInt8, Sendable {
        case base
        case older
        case newer
    }

    /// What becomes of a token of the base.
    enum Fate: UInt8, Sendable {
        case stands
        /// It stands where its line was moved to.
        case isMoved
        case isGone
    }

    /// A stretch of the base that both replaced, where the newer's stands.
    struct Contest {
        /// The line that it is in, if that was moved.
        let movedLine: Int?
        var base: Range<Int>
        /// What the older has in its place.
        var older: Range<Int>
    }

    /// What one side put in the place of a line that stands all the same, as the other side has it, below.
    struct Rewrite {
        let source: Source
        /// Where the line starts in the base.
        let gap: Int
        let side: Range<Int>
    }

    let base: TextTokens
    let older: TextSide
    let newer: TextSide
    /// What becomes of each token of the base.
    private(set) var fates: [Fate] = []
    /// The hunks to weave where they are.
    private(set) var hunks: (older: [TextHunk], newer: [TextHunk]) = ([], [])
    /// The hunks inside moved lines, by line.
    private(set) var hunksOfMovedLines: [Int: (older: [TextHunk], newer: [TextHunk])] = [:]
    private(set) var contests: [Contest] = []
    private(set) var rewrites: [Rewrite] = []
    /// The side where each moved line of the base stands.
    private(set) var owners: [Int: Source] = [:]
    /// The indices of hunks that are not woven: contested, or part of a rewrite.
    private var left: (older: Set<Int>, newer: Set<Int>) = ([], [])
    private let lineOfTokens: [Int32]

    init(base: TextTokens, older: TextSide, newer: TextSide) {
        self.base = base
        self.older = older
        self.newer = newer
        lineOfTokens = base.lineOfTokens
        for line in older.moves.keys { owners[line] = .older }
        for line in newer.moves.keys { owners[line] = .newer }
        fates = (0..<base.count).map { older.places[$0] < 0 || newer.places[$0] < 0 ? .isGone : .stands }
        settleCoarseRegions()
        settleContests()
        settleRewrites()
        for line in owners.keys {
            for token in base.lines[line] where fates[token] == .stands { fates[token] = .isMoved }
        }
        sortHunks()
    }

    subscript(source: Source) -> TextTokens {
        switch source {
        case .base: base
        case .older: older.tokens
        case .newer: newer.tokens
        }
    }

    /// Whether anything is left of a moved line.
    func isStanding(movedLine line: Int) -> Bool {
        hunksOfMovedLines[line] != nil || base.lines[line].contains { fates[$0] == .isMoved }
    }

    // MARK: Contests

    /// Where one side was aligned coarsely nothing says which of its words are new. There the newer's text stands.
    private mutating func settleCoarseRegions() {
        guard older.hunks.contains(where: \.isCoarse) || newer.hunks.contains(where: \.isCoarse) else { return }
        var (i, j) = (0, 0)
        var region = Region()
        while i < older.hunks.count || j < newer.hunks.count {
            let isOlder =
                j == newer.hunks.count
                || i < older.hunks.count && older.hunks[i].base.lowerBound <= newer.hunks[j].base.lowerBound
            let hunk = isOlder ? older.hunks[i] : newer.hunks[j]
            if !region.overlaps(hunk) {
                settle(region)
                region = Region(base: hunk.base)
            }
            region.add(hunk, older: isOlder ? i : nil)
            if isOlder { i += 1 } else { j += 1 }
        }
        settle(region)
    }

    /// Hunks of both sides that overlap.
    private struct Region {
        var base = 0..<0
        var older: [Int] = []
        var hasNewer = false
        var isCoarse = false

        func overlaps(_ hunk: TextHunk) -> Bool {
            hunk.base.lowerBound < base.upperBound
                && (hunk.base.lowerBound > base.lowerBound || !hunk.base.isEmpty)
        }

        mutating func add(_ hunk: TextHunk, older index: Int?) {
            base = base.lowerBound..<max(base.upperBound, hunk.base.upperBound)
            if let index { older.append(index) } else { hasNewer = true }
            isCoarse = isCoarse || hunk.isCoarse
        }
    }

    private mutating func settle(_ region: Region) {
        guard region.isCoarse, region.hasNewer, let first = region.older.first, let last = region.older.last else {
            return
        }
        let (start, end) = (older.hunks[first], older.hunks[last])
        let side = Self.side(of: region.base, from: start, to: end)
        left.older.formUnion(region.older)
        contests.append(Contest(movedLine: nil, base: region.base, older: side))
        for token in region.base { fates[token] = newer.places[token] < 0 ? .isGone : .stands }
        // A line that the older moved into the region stays where it was.
        for (start, line) in older.movedStarts where side.contains(start) && owners[line] == .older {
            owners[line] = nil
        }
    }

    /// Both replaced the same words of a line of which both left a word.
    private mutating func settleContests() {
        var j = 0
        for (i, hunk) in older.hunks.enumerated() where isReplacement(hunk) && !left.older.contains(i) {
            while j < newer.hunks.count, newer.hunks[j].base.upperBound <= hunk.base.lowerBound { j += 1 }
            var next = j
            while next < newer.hunks.count, newer.hunks[next].base.lowerBound < hunk.base.upperBound {
                let other = newer.hunks[next]
                if isReplacement(other), isContest(hunk, other), !isEqual(hunk, other) {
                    left.older.insert(i)
                    let line = Int(lineOfTokens[hunk.base.lowerBound])
                    contests.append(
                        Contest(
                            movedLine: owners[line] == nil ? nil : line, base: other.base, older: hunk.side))
                }
                next += 1
            }
        }
    }

    private func isReplacement(_ hunk: TextHunk) -> Bool {
        !hunk.base.isEmpty && !hunk.side.isEmpty && !hunk.isCoarse
    }

    private func isEqual(_ one: TextHunk, _ other: TextHunk) -> Bool {
        one.base == other.base
            && older.tokens.bytes(of: one.side).elementsEqual(newer.tokens.bytes(of: other.side))
    }

    private func isContest(_ one: TextHunk, _ other: TextHunk) -> Bool {
        guard let words = words(of: one.base) else {
            // Nobody's words are concerned: of two ways to put a mark or a blank, the newer's stands.
            return one.base == other.base && !older.tokens.hasWords(one.side) && !newer.tokens.hasWords(other.side)
        }
        let line = base.lines[Int(lineOfTokens[words.lowerBound])]
        return words == self.words(of: other.base) && words.upperBound <= line.upperBound
            && older.keepsWords(of: line) && newer.keepsWords(of: line)
            && !older.holdsMovedLine(one.side) && !newer.holdsMovedLine(other.side)
    }

    /// A range of the base without what is no word at its ends; nil if it has no word.
    private func words(of range: Range<Int>) -> Range<Int>? {
        guard let first = range.first(where: base.isWord), let last = range.last(where: base.isWord) else { return nil }
        return first..<(last + 1)
    }

    // MARK: Lines that come back

    /// A line of which one side left no word stands as the other has it, if the other put a word into it; what took its
    /// place stands above it. Of two that both rewrote it, the older's stands above.
    private mutating func settleRewrites() {
        var next = (older: 0, newer: 0)
        var done = -1
        for hunk in merged(older.hunks, newer.hunks) {
            for line in lines(of: hunk.base) where line > done {
                done = line
                let range = base.lines[line]
                guard base.hasWords(range), owners[line] == nil else { continue }
                let one = changes(of: range, by: older, from: &next.older, left: left.older)
                let other = changes(of: range, by: newer, from: &next.newer, left: left.newer)
                if one.isCoarse || other.isCoarse { continue }
                if !older.keepsWords(of: range), hasWords(other, newer) {
                    if isEqual(one, other) { continue }
                    revive(line, rewrittenBy: .older, isRewrite(one, older) ? one : nil)
                } else if !newer.keepsWords(of: range), hasWords(one, older) {
                    revive(line, rewrittenBy: .newer, isRewrite(other, newer) ? other : nil)
                }
            }
        }
    }

    /// The hunks of one side that put something into a line, or take something of it, and nothing beyond it.
    private struct LineChanges {
        var indices: [Int] = []
        var hunks: [TextHunk] = []
        /// Whether the line is in a region that was aligned coarsely.
        var isCoarse = false
    }

    private func changes(
        of line: Range<Int>, by side: TextSide, from next: inout Int, left: Set<Int>
    ) -> LineChanges {
        while next < side.hunks.count, side.hunks[next].base.upperBound < line.lowerBound { next += 1 }
        var changes = LineChanges()
        var index = next
        while index < side.hunks.count, side.hunks[index].base.lowerBound <= line.upperBound {
            let hunk = side.hunks[index]
            if hunk.isCoarse {
                changes.isCoarse = true
            } else if side.isChange(hunk, of: line) {
                changes.indices.append(index)
                changes.hunks.append(hunk)
            }
            index += 1
        }
        return changes
    }

    private func hasWords(_ changes: LineChanges, _ side: TextSide) -> Bool {
        changes.hunks.contains { side.tokens.hasWords($0.side) }
    }

    /// Whether a side put anything in the place of what it deleted.
    private func isRewrite(_ changes: LineChanges, _ side: TextSide) -> Bool {
        changes.hunks.contains { !side.tokens.kinds[$0.side].allSatisfy(\.isGap) }
    }

    private func isEqual(_ one: LineChanges, _ other: LineChanges) -> Bool {
        one.hunks.count == other.hunks.count && zip(one.hunks, other.hunks).allSatisfy { isEqual($0, $1) }
    }

    /// Lets a line stand as the side that did not take all its words has it.
    private mutating func revive(_ line: Int, rewrittenBy source: Source, _ changes: LineChanges?) {
        let range = base.lines[line]
        let (keeper, other) = source == .older ? (newer, older) : (older, newer)
        func stand(_ tokens: Range<Int>) {
            for token in tokens { fates[token] = keeper.places[token] < 0 ? .isGone : .stands }
        }
        stand(range)
        if changes == nil { stand(separators(of: line, deletedBy: other)) }
        guard let changes, let first = changes.hunks.first, let last = changes.hunks.last else { return }
        let side = Self.side(of: range, from: first, to: last)
        rewrites.append(Rewrite(source: source, gap: range.lowerBound, side: side))
        if source == .older { left.older.formUnion(changes.indices) } else { left.newer.formUnion(changes.indices) }
    }

    /// The line end of a line that one side deleted, and the blank lines that went with it: those below, or those above
    /// if its line end stands.
    private func separators(of line: Int, deletedBy side: TextSide) -> Range<Int> {
        func isDeleted(_ token: Int) -> Bool { token >= 0 && token < base.count && side.places[token] < 0 }
        let range = base.lines[line]
        if isDeleted(range.upperBound) {
            var end = range.upperBound + 1
            while isDeleted(end), base.kinds[end].isGap { end += 1 }
            // The blanks before a word are the word's.
            while !base.isBreak(end - 1) { end -= 1 }
            return range.upperBound..<end
        }
        var start = range.lowerBound
        while isDeleted(start - 1), base.kinds[start - 1].isGap { start -= 1 }
        return start..<range.lowerBound
    }

    // MARK: Hunks

    /// What a side has in place of a range of the base, given its first and its last change there.
    private static func side(of range: Range<Int>, from first: TextHunk, to last: TextHunk) -> Range<Int> {
        let start = first.side.lowerBound - (first.base.lowerBound - range.lowerBound)
        return start..<(last.side.upperBound + range.upperBound - last.base.upperBound)
    }

    private func merged(_ older: [TextHunk], _ newer: [TextHunk]) -> [TextHunk] {
        (older + newer).sorted { $0.base.lowerBound < $1.base.lowerBound }
    }

    private func lines(of range: Range<Int>) -> ClosedRange<Int> {
        let last = Int(lineOfTokens[max(range.lowerBound, range.upperBound - 1)])
        return Int(lineOfTokens[range.lowerBound])...last
    }

    /// Sorts out what is woven where it is and what goes along with moved lines.
    private mutating func sortHunks() {
        for (index, hunk) in older.hunks.enumerated() where !hunk.side.isEmpty && !left.older.contains(index) {
            if let line = movedLine(of: index, by: older) {
                hunksOfMovedLines[line, default: ([], [])].older.append(hunk)
            } else {
                hunks.older.append(hunk)
            }
        }
        for (index, hunk) in newer.hunks.enumerated() where !hunk.side.isEmpty && !left.newer.contains(index) {
            if let line = movedLine(of: index, by: newer) {
                hunksOfMovedLines[line, default: ([], [])].newer.append(hunk)
            } else {
                hunks.newer.append(hunk)
            }
        }
    }

    /// The moved line that a change of one side goes along with.
    private func movedLine(of index: Int, by side: TextSide) -> Int? {
        if owners.isEmpty { return nil }
        if let line = side.movedLines[index] { return line }
        let hunk = side.hunks[index]
        let line = Int(lineOfTokens[hunk.base.lowerBound])
        guard owners[line] != nil, side.moves[line] == nil, side.isChange(hunk, of: base.lines[line]) else {
            return nil
        }
        return line
    }
}
