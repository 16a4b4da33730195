/// The decisions that are made before the merged text is written (merge.md, Text): where a moved line is placed, which deleted
/// lines are restored, and which changes are superseded.
struct TextPlan {
    /// One of the three texts of a merge: the base, and the older and the newer text that were edited from the base.
    enum Source: UInt8, Sendable {
        case base
        case older
        case newer
    }

    /// The result of the merge for one token of the base.
    enum TokenOutcome: UInt8, Sendable {
        case kept
        /// The token is kept, and written at the place to which its line was moved.
        case moved
        case deleted
    }

    /// A range of the base that both sides replaced. The replacement of the newer side is used.
    struct Contest {
        /// The moved line that contains the range; nil if none does.
        let movedLine: Int?
        var base: Range<Int>
        /// The replacement of the older side, as a range of the older text.
        var older: Range<Int>
    }

    /// The text with which one side replaced a line that the other side kept. It is written above the kept line.
    struct Rewrite {
        let source: Source
        /// The index of the line's first token in the base.
        let gap: Int
        let side: Range<Int>
    }

    let base: TextTokens
    let older: TextSide
    let newer: TextSide
    /// The outcome of each token of the base.
    private(set) var outcomes: [TokenOutcome] = []
    /// The hunks that are written at their place in the base, because they are not within a moved line.
    private(set) var hunks: (older: [TextHunk], newer: [TextHunk]) = ([], [])
    /// The hunks within moved lines, by the line of the base.
    private(set) var hunksOfMovedLines: [Int: (older: [TextHunk], newer: [TextHunk])] = [:]
    private(set) var contests: [Contest] = []
    private(set) var rewrites: [Rewrite] = []
    /// For each moved line of the base: the side that determines the new place of the line.
    private(set) var owners: [Int: Source] = [:]
    /// The indices of the hunks that are not written, because they are superseded or because a rewrite contains them.
    private var omitted: (older: Set<Int>, newer: Set<Int>) = ([], [])
    private let lineOfTokens: [Int32]

    init(base: TextTokens, older: TextSide, newer: TextSide) {
        self.base = base
        self.older = older
        self.newer = newer
        lineOfTokens = base.lineOfTokens
        for line in older.moves.keys { owners[line] = .older }
        for line in newer.moves.keys { owners[line] = .newer }
        outcomes = (0..<base.count).map { older.positions[$0] < 0 || newer.positions[$0] < 0 ? .deleted : .kept }
        resolveCoarseRegions()
        resolveContests()
        resolveRewrites()
        for line in owners.keys {
            for token in base.lines[line] where outcomes[token] == .kept { outcomes[token] = .moved }
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

    /// Whether any part of a moved line is kept.
    func isKept(movedLine line: Int) -> Bool {
        hunksOfMovedLines[line] != nil || base.lines[line].contains { outcomes[$0] == .moved }
    }

    // MARK: Contests

    /// Resolves regions that were not compared in detail. It is not known which words of such a region are new, so the newer text
    /// is used.
    private mutating func resolveCoarseRegions() {
        guard older.hunks.contains(where: \.isCoarse) || newer.hunks.contains(where: \.isCoarse) else { return }
        var (i, j) = (0, 0)
        var region = Region()
        while i < older.hunks.count || j < newer.hunks.count {
            let isOlder =
                j == newer.hunks.count
                || i < older.hunks.count && older.hunks[i].base.lowerBound <= newer.hunks[j].base.lowerBound
            let hunk = isOlder ? older.hunks[i] : newer.hunks[j]
            if !region.overlaps(hunk) {
                resolve(region)
                region = Region(base: hunk.base)
            }
            region.add(hunk, older: isOlder ? i : nil)
            if isOlder { i += 1 } else { j += 1 }
        }
        resolve(region)
    }

    /// A range of the base in which hunks of both sides overlap.
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

    private mutating func resolve(_ region: Region) {
        guard region.isCoarse, region.hasNewer, let first = region.older.first, let last = region.older.last else {
            return
        }
        let (start, end) = (older.hunks[first], older.hunks[last])
        let side = Self.side(of: region.base, from: start, to: end)
        omitted.older.formUnion(region.older)
        contests.append(Contest(movedLine: nil, base: region.base, older: side))
        for token in region.base { outcomes[token] = newer.positions[token] < 0 ? .deleted : .kept }
        // If the older side moved a line into the region, the line stays at its original place.
        for (start, line) in older.movedStarts where side.contains(start) && owners[line] == .older {
            owners[line] = nil
        }
    }

    /// Resolves contests. In a contest, both sides replaced the same words of a line, and each side kept some other word of
    /// that line.
    private mutating func resolveContests() {
        var j = 0
        for (i, hunk) in older.hunks.enumerated() where isReplacement(hunk) && !omitted.older.contains(i) {
            while j < newer.hunks.count, newer.hunks[j].base.upperBound <= hunk.base.lowerBound { j += 1 }
            var next = j
            while next < newer.hunks.count, newer.hunks[next].base.lowerBound < hunk.base.upperBound {
                let other = newer.hunks[next]
                if isReplacement(other), isContest(hunk, other), !isEqual(hunk, other) {
                    omitted.older.insert(i)
                    // If the newer replacement extends beyond a moved line, `movedLine` is nil. The replacement is then written
                    // at its original place in the base.
                    contests.append(
                        Contest(movedLine: movedLine(of: next, by: newer), base: other.base, older: hunk.side))
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
            // The range of the base contains no words. If both sides changed only punctuation or blanks, the newer change is
            // used.
            return one.base == other.base && !older.tokens.hasWords(one.side) && !newer.tokens.hasWords(other.side)
        }
        let line = base.lines[Int(lineOfTokens[words.lowerBound])]
        return words == self.words(of: other.base) && words.upperBound <= line.upperBound
            && older.keepsWords(of: line) && newer.keepsWords(of: line)
            && !older.containsMovedLine(one.side) && !newer.containsMovedLine(other.side)
    }

    /// The part of a range of the base from its first word to its last word; nil if the range contains no word.
    private func words(of range: Range<Int>) -> Range<Int>? {
        guard let first = range.first(where: base.isWord), let last = range.last(where: base.isWord) else { return nil }
        return first..<(last + 1)
    }

    // MARK: Restored lines

    /// Handles each line in which one side deleted all words and the other side inserted a word. The line with the inserted word is
    /// kept. If the side that deleted the words wrote other text in their place, that text is written above the kept line. If both
    /// sides replaced the line, the older replacement is written above the newer one.
    private mutating func resolveRewrites() {
        var next = (older: 0, newer: 0)
        var done = -1
        for hunk in merged(older.hunks, newer.hunks) {
            for line in lines(of: hunk.base) where line > done {
                done = line
                let range = base.lines[line]
                guard base.hasWords(range), owners[line] == nil else { continue }
                let one = changes(of: range, by: older, from: &next.older, omitted: omitted.older)
                let other = changes(of: range, by: newer, from: &next.newer, omitted: omitted.newer)
                if one.isCoarse || other.isCoarse { continue }
                if !older.keepsWords(of: range), hasWords(other, newer) {
                    if isEqual(one, other) { continue }
                    restore(line, rewrittenBy: .older, isRewrite(one, older) ? one : nil)
                } else if !newer.keepsWords(of: range), hasWords(one, older) {
                    restore(line, rewrittenBy: .newer, isRewrite(other, newer) ? other : nil)
                }
            }
        }
    }

    /// The hunks of one side that change a given line and nothing outside of it.
    private struct LineChanges {
        var indices: [Int] = []
        var hunks: [TextHunk] = []
        /// Whether the line is in a region that was not compared in detail.
        var isCoarse = false
    }

    private func changes(
        of line: Range<Int>, by side: TextSide, from next: inout Int, omitted: Set<Int>
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

    /// Whether the side inserted anything besides blanks and line breaks.
    private func isRewrite(_ changes: LineChanges, _ side: TextSide) -> Bool {
        changes.hunks.contains { !side.tokens.kinds[$0.side].allSatisfy(\.isGap) }
    }

    private func isEqual(_ one: LineChanges, _ other: LineChanges) -> Bool {
        one.hunks.count == other.hunks.count && zip(one.hunks, other.hunks).allSatisfy { isEqual($0, $1) }
    }

    /// Restores a line of which the side `source` deleted all words. Those tokens of the line that the other side kept are
    /// restored.
    private mutating func restore(_ line: Int, rewrittenBy source: Source, _ changes: LineChanges?) {
        let range = base.lines[line]
        let (keeper, other) = source == .older ? (newer, older) : (older, newer)
        func keep(_ tokens: Range<Int>) {
            for token in tokens { outcomes[token] = keeper.positions[token] < 0 ? .deleted : .kept }
        }
        keep(range)
        if changes == nil { keep(separators(of: line, deletedBy: other)) }
        guard let changes, let first = changes.hunks.first, let last = changes.hunks.last else { return }
        let side = Self.side(of: range, from: first, to: last)
        rewrites.append(Rewrite(source: source, gap: range.lowerBound, side: side))
        if source == .older {
            omitted.older.formUnion(changes.indices)
        } else {
            omitted.newer.formUnion(changes.indices)
        }
    }

    /// The separators that one side deleted together with a line. If the side deleted the line break at the end of the line,
    /// returns that line break and the deleted blank lines below it. Otherwise, returns the deleted blank lines above the line.
    private func separators(of line: Int, deletedBy side: TextSide) -> Range<Int> {
        func isDeleted(_ token: Int) -> Bool { token >= 0 && token < base.count && side.positions[token] < 0 }
        let range = base.lines[line]
        if isDeleted(range.upperBound) {
            var end = range.upperBound + 1
            while isDeleted(end), base.kinds[end].isGap { end += 1 }
            // Blanks before a word belong to the word.
            while !base.isBreak(end - 1) { end -= 1 }
            return range.upperBound..<end
        }
        var start = range.lowerBound
        while isDeleted(start - 1), base.kinds[start - 1].isGap { start -= 1 }
        return start..<range.lowerBound
    }

    // MARK: Hunks

    /// The range of a side that corresponds to a range of the base. `first` and `last` are the first and the last hunk in that
    /// range.
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

    /// Divides the hunks into those that are written at their place in the base and those that are written within moved lines.
    private mutating func sortHunks() {
        for (index, hunk) in older.hunks.enumerated() where !hunk.side.isEmpty && !omitted.older.contains(index) {
            if let line = movedLine(of: index, by: older) {
                hunksOfMovedLines[line, default: ([], [])].older.append(hunk)
            } else {
                hunks.older.append(hunk)
            }
        }
        for (index, hunk) in newer.hunks.enumerated() where !hunk.side.isEmpty && !omitted.newer.contains(index) {
            if let line = movedLine(of: index, by: newer) {
                hunksOfMovedLines[line, default: ([], [])].newer.append(hunk)
            } else {
                hunks.newer.append(hunk)
            }
        }
    }

    /// The moved line that contains a hunk of one side; nil if none does.
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
