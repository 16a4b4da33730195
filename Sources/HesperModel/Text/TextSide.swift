/// One of the two texts of a merge, as a list of changes to the base.
struct TextSide {
    let tokens: TextTokens
    /// The changes, by their position in the base. For a moved line, the changes within the line are listed at its old place, and
    /// an insertion of its tokens is listed at its new place. The old place has no deletion of the line.
    private(set) var hunks: [TextHunk]
    /// For each moved line of the base: the index of the same line in the side.
    private(set) var moves: [Int: Int] = [:]
    /// For each moved line, the index of the line in the base. The key is the index of the line's first token in the side.
    private(set) var movedStarts: [Int: Int] = [:]
    /// For each hunk that changes a moved line, the index of the line in the base. The key is the index of the hunk.
    private(set) var movedLines: [Int: Int] = [:]
    /// For each token of the base: the index of the same token in the side; -1 if the side deleted the token.
    private(set) var positions: [Int32] = []
    /// For each token of the base: the number of words that precede the token in the base and that the side kept. An additional
    /// last element is the number of all kept words.
    private var keptWords: [Int32] = []
    private let base: TextTokens

    init(base: TextTokens, side: TextTokens, numbers: inout TextNumbers, budget: inout TextBudget) {
        self.base = base
        tokens = side
        let alignment = TextAlignment(base: base, side: side, numbers: &numbers, budget: &budget)
        hunks = []
        hunks = sliding(
            alignment.hunks, in: TextHunk(base: 0..<base.count, side: 0..<side.count), around: alignment.movedTokens,
            budget: &budget)
        recordPositions()
        let moves =
            alignment.moves + TextSimilarLines(base: base, side: side, hunks: hunks, moves: alignment.moves).moves
        removeMovedLines(moves, numbers: &numbers, budget: &budget)
        countWords()
    }

    /// Whether the side kept any word in a range of the base.
    func keepsWords(of range: Range<Int>) -> Bool { keptWords[range.upperBound] > keptWords[range.lowerBound] }

    /// Whether a hunk changes a line of the base, rather than only the text above or below the line. A hunk that inserts a line
    /// moved from another place does not change the line.
    func isChange(_ hunk: TextHunk, of line: Range<Int>) -> Bool {
        guard line.lowerBound <= hunk.base.lowerBound, hunk.base.upperBound <= line.upperBound, !line.isEmpty,
            !containsMovedLine(hunk.side)
        else { return false }
        if !hunk.base.isEmpty { return true }
        if tokens.kinds[hunk.side].allSatisfy(\.isGap) {
            return line.lowerBound < hunk.base.lowerBound && hunk.base.lowerBound < line.upperBound
        }
        if hunk.base.lowerBound == line.lowerBound { return !tokens.isBreak(hunk.side.upperBound - 1) }
        return hunk.base.lowerBound < line.upperBound || !tokens.isBreak(hunk.side.lowerBound)
    }

    // MARK: Sliding

    /// An insertion or deletion often has several equivalent places. This function moves each insertion or deletion to a place
    /// where it consists of whole lines, or, if there is no such place, to a place where it begins with a blank. If one side
    /// inserts " x" and the other "x " between the same words, both insertions are then at the same place.
    private func sliding(
        _ hunks: [TextHunk], in bounds: TextHunk, around moved: (base: [Range<Int>], side: [Range<Int>]) = ([], []),
        budget: inout TextBudget
    ) -> [TextHunk] {
        var slid: [TextHunk] = []
        for (index, hunk) in hunks.enumerated() {
            guard hunk.isPure else {
                slid.append(hunk)
                continue
            }
            let floor = slid.last.map { ($0.base.upperBound, $0.side.upperBound) }
            let (start, sideStart) = floor ?? (bounds.base.lowerBound, bounds.side.lowerBound)
            let next = index + 1 < hunks.count ? hunks[index + 1] : nil
            let (end, sideEnd) = (next?.base.lowerBound, next?.side.lowerBound)
            let shift = shift(
                hunk, up: min(hunk.base.lowerBound - start, hunk.side.lowerBound - sideStart),
                down: min(
                    (end ?? bounds.base.upperBound) - hunk.base.upperBound,
                    (sideEnd ?? bounds.side.upperBound) - hunk.side.upperBound),
                around: hunk.base.isEmpty ? moved.side : moved.base, budget: &budget)
            slid.append(
                TextHunk(
                    base: (hunk.base.lowerBound + shift)..<(hunk.base.upperBound + shift),
                    side: (hunk.side.lowerBound + shift)..<(hunk.side.upperBound + shift)))
        }
        return slid
    }

    /// The number of tokens by which an insertion or deletion is moved down within the given limits; negative if it is moved
    /// up. A moved line is never split.
    private func shift(
        _ hunk: TextHunk, up highest: Int, down lowest: Int, around moved: [Range<Int>], budget: inout TextBudget
    ) -> Int {
        let (text, run) = hunk.base.isEmpty ? (tokens, hunk.side) : (base, hunk.base)
        var (up, down) = (0, 0)
        func isSame(_ one: Int, _ other: Int) -> Bool {
            text.isSame(one, other) && !moved.containsToken(one) && !moved.containsToken(other)
        }
        while up < highest, isSame(run.lowerBound - up - 1, run.upperBound - up - 1) { up += 1 }
        while down < lowest, isSame(run.lowerBound + down, run.upperBound + down) { down += 1 }
        budget.spend(up + down)
        var best = (score: -1, shift: 0)
        for shift in -up...down {
            let score = Self.score((run.lowerBound + shift)..<(run.upperBound + shift), in: text)
            // If several places are equally good, a hunk of whole lines is moved to the last of these places, so that a line that
            // was added below an equal line remains below it. Any other hunk is moved to the first of these places.
            if score > best.score || score == best.score && score == 4 { best = (score, shift) }
        }
        return best.shift
    }

    private static func score(_ run: Range<Int>, in text: TextTokens) -> Int {
        if text.startsLine(run.lowerBound), text.isBreak(run.upperBound - 1) { return 4 }
        if text.isBreak(run.lowerBound) { return text.endsLine(run.upperBound) ? 3 : 0 }
        return text.kinds[run.lowerBound] == .blank ? 2 : text.kinds[run.upperBound - 1] == .blank ? 1 : 0
    }

    // MARK: Moved lines

    /// Whether a range of tokens contains a whole moved line.
    func containsMovedLine(_ tokens: Range<Int>) -> Bool {
        !moves.isEmpty
            && tokens.contains { token in
                movedStarts[token].flatMap { moves[$0] }.map { self.tokens.lines[$0].upperBound <= tokens.upperBound }
                    ?? false
            }
    }

    /// Removes moved lines from the hunks that delete them, and adds hunks for the changes within these lines. A line is treated as
    /// moved only if a single hunk deletes all of it and a single hunk inserts all of it.
    ///
    /// Deletions are split at line breaks, so that the merge can restore one deleted line without restoring others.
    private mutating func removeMovedLines(
        _ found: [TextAlignment.Move], numbers: inout TextNumbers, budget: inout TextBudget
    ) {
        for move in found {
            let (line, sideLine) = (base.lines[move.line], tokens.lines[move.sideLine])
            let from = hunks.partitioningIndex { $0.base.upperBound > line.lowerBound }
            let to = hunks.partitioningIndex { $0.side.upperBound > sideLine.lowerBound }
            guard from < hunks.count, to < hunks.count, !hunks[from].isCoarse, !hunks[to].isCoarse,
                hunks[from].base.lowerBound <= line.lowerBound, line.upperBound <= hunks[from].base.upperBound,
                hunks[to].side.lowerBound <= sideLine.lowerBound, sideLine.upperBound <= hunks[to].side.upperBound
            else { continue }
            moves[move.line] = move.sideLine
            movedStarts[sideLine.lowerBound] = move.line
        }
        let lines = moves.keys.sorted()
        var next = 0
        let found = hunks
        hunks = []
        for var hunk in found {
            while next < lines.count, base.lines[lines[next]].lowerBound < hunk.base.upperBound {
                let line = base.lines[lines[next]]
                add(TextHunk(base: hunk.base.lowerBound..<line.lowerBound, side: hunk.side))
                addChanges(of: lines[next], numbers: &numbers, budget: &budget)
                hunk = TextHunk(base: line.upperBound..<hunk.base.upperBound, side: hunk.side.suffix(0))
                next += 1
            }
            add(hunk)
        }
    }

    /// Adds a hunk. A deletion is split into lines. Lines that were moved to the place of a deletion do not replace the deleted
    /// text. They are inserted before or after the deleted text.
    private mutating func add(_ hunk: TextHunk) {
        if hunk.base.isEmpty, hunk.side.isEmpty { return }
        if !hunk.isPure, containsMovedLine(hunk.side) {
            let isAbove = base.startsLine(hunk.base.lowerBound)
            if isAbove { hunks.append(TextHunk(base: hunk.base.prefix(0), side: hunk.side)) }
            add(TextHunk(base: hunk.base, side: isAbove ? hunk.side.suffix(0) : hunk.side.prefix(0)))
            if !isAbove { hunks.append(TextHunk(base: hunk.base.suffix(0), side: hunk.side)) }
            return
        }
        guard hunk.side.isEmpty else {
            hunks.append(hunk)
            return
        }
        var start = hunk.base.lowerBound
        for end in hunk.base where base.isBreak(end) {
            if start < end { hunks.append(TextHunk(base: start..<end, side: hunk.side)) }
            hunks.append(TextHunk(base: end..<(end + 1), side: hunk.side))
            start = end + 1
        }
        if start < hunk.base.upperBound {
            hunks.append(TextHunk(base: start..<hunk.base.upperBound, side: hunk.side))
        }
    }

    /// Adds the changes within a moved line, and records the positions of its unchanged tokens.
    private mutating func addChanges(of line: Int, numbers: inout TextNumbers, budget: inout TextBudget) {
        guard let sideLine = moves[line] else { return }
        let whole = TextHunk(base: base.lines[line], side: tokens.lines[sideLine])
        let changes = TextAlignment(whole, base: base, side: tokens, numbers: &numbers, budget: &budget).hunks
        var (token, position) = (whole.base.lowerBound, whole.side.lowerBound)
        for hunk in sliding(changes, in: whole, budget: &budget) + [TextHunk(base: whole.base.suffix(0), side: 0..<0)] {
            while token < hunk.base.lowerBound {
                positions[token] = Int32(truncatingIfNeeded: position)
                (token, position) = (token + 1, position + 1)
            }
            (token, position) = (hunk.base.upperBound, hunk.side.upperBound)
            if hunk.base.isEmpty, hunk.side.isEmpty { continue }
            movedLines[hunks.count] = line
            hunks.append(hunk)
        }
    }

    // MARK: Positions

    private mutating func recordPositions() {
        positions.reserveCapacity(base.count)
        var sideStart: Int32 = 0
        for hunk in hunks + [TextHunk(base: base.count..<base.count, side: 0..<0)] {
            while positions.count < hunk.base.lowerBound {
                positions.append(sideStart)
                sideStart += 1
            }
            for _ in hunk.base { positions.append(-1) }
            sideStart = Int32(truncatingIfNeeded: hunk.side.upperBound)
        }
    }

    private mutating func countWords() {
        keptWords.reserveCapacity(base.count + 1)
        var kept: Int32 = 0
        keptWords.append(kept)
        for token in 0..<base.count {
            if positions[token] >= 0, base.isWord(token) { kept += 1 }
            keptWords.append(kept)
        }
    }
}
