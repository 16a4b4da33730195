/// What one side did to the base, in the smallest changes that still mean something.
struct TextSide {
    let tokens: TextTokens
    /// In the order of the base. A moved line is not in them where it was, only what was changed inside it; where it is
    /// now, the insertion around it holds its tokens.
    private(set) var hunks: [TextHunk]
    /// The moved lines of the base, and which line of the side each became.
    private(set) var moves: [Int: Int] = [:]
    /// The same, by the first token of the line in the side.
    private(set) var movedStarts: [Int: Int] = [:]
    /// The moved lines that hunks are changes of, by the index of the hunk.
    private(set) var movedLines: [Int: Int] = [:]
    /// The token of the side that each token of the base is, or -1 where it was deleted.
    private(set) var places: [Int32] = []
    /// How many words of the base are left before each token; one more at the end.
    private var keptWords: [Int32] = []
    private let base: TextTokens

    init(base: TextTokens, side: TextTokens, numbers: inout TextNumbers, effort: inout TextBudget) {
        self.base = base
        tokens = side
        let alignment = TextAlignment(base: base, side: side, numbers: &numbers, effort: &effort)
        hunks = []
        hunks = slid(
            alignment.hunks, in: TextHunk(base: 0..<base.count, side: 0..<side.count), around: alignment.movedTokens,
            effort: &effort)
        placeTokens()
        let moves =
            alignment.moves + TextSimilarLines(base: base, side: side, hunks: hunks, moves: alignment.moves).moves
        takeOut(moves, numbers: &numbers, effort: &effort)
        countWords()
    }

    /// Whether any of some tokens of the base that are words is left.
    func keepsWords(of range: Range<Int>) -> Bool { keptWords[range.upperBound] > keptWords[range.lowerBound] }

    /// Whether a change puts something into a line of the base, and not above or below it. A line moved to its place is
    /// no change of it.
    func isChange(_ hunk: TextHunk, of line: Range<Int>) -> Bool {
        guard line.lowerBound <= hunk.base.lowerBound, hunk.base.upperBound <= line.upperBound, !line.isEmpty,
            !holdsMovedLine(hunk.side)
        else { return false }
        if !hunk.base.isEmpty { return true }
        if tokens.kinds[hunk.side].allSatisfy(\.isGap) {
            return line.lowerBound < hunk.base.lowerBound && hunk.base.lowerBound < line.upperBound
        }
        if hunk.base.lowerBound == line.lowerBound { return !tokens.isBreak(hunk.side.upperBound - 1) }
        return hunk.base.lowerBound < line.upperBound || !tokens.isBreak(hunk.side.lowerBound)
    }

    // MARK: Sliding

    /// Puts each insertion and deletion where it is made of whole lines, of all the places where it means the same, or
    /// else where it begins with a blank. Both sides have theirs there, so that " x" put in by one and "x " put in by
    /// the other between two words are seen to be in one gap.
    private func slid(
        _ hunks: [TextHunk], in bounds: TextHunk, around moved: (base: [Range<Int>], side: [Range<Int>]) = ([], []),
        effort: inout TextBudget
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
                around: hunk.base.isEmpty ? moved.side : moved.base, effort: &effort)
            slid.append(
                TextHunk(
                    base: (hunk.base.lowerBound + shift)..<(hunk.base.upperBound + shift),
                    side: (hunk.side.lowerBound + shift)..<(hunk.side.upperBound + shift)))
        }
        return slid
    }

    /// How far an insertion or a deletion slides, given how far it may. No moved line is cut by it.
    private func shift(
        _ hunk: TextHunk, up highest: Int, down lowest: Int, around moved: [Range<Int>], effort: inout TextBudget
    ) -> Int {
        let (text, run) = hunk.base.isEmpty ? (tokens, hunk.side) : (base, hunk.base)
        var (up, down) = (0, 0)
        func isSame(_ one: Int, _ other: Int) -> Bool {
            text.isSame(one, other) && !moved.holdsToken(one) && !moved.holdsToken(other)
        }
        while up < highest, isSame(run.lowerBound - up - 1, run.upperBound - up - 1) { up += 1 }
        while down < lowest, isSame(run.lowerBound + down, run.upperBound + down) { down += 1 }
        effort.spend(up + down)
        var best = (score: -1, shift: 0)
        for shift in -up...down {
            let score = Self.score((run.lowerBound + shift)..<(run.upperBound + shift), in: text)
            // Of whole lines the last, so that a line written below an equal one stays there; else the first.
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

    /// Whether some tokens hold a whole moved line.
    func holdsMovedLine(_ tokens: Range<Int>) -> Bool {
        !moves.isEmpty
            && tokens.contains { token in
                movedStarts[token].flatMap { moves[$0] }.map { self.tokens.lines[$0].upperBound <= tokens.upperBound }
                    ?? false
            }
    }

    /// Takes moved lines out of the hunks that deleted them, and adds what was changed in them. One that is not whole in
    /// such a hunk, or not whole in an insertion, stays a deletion and an insertion.
    ///
    /// Deletions are cut at line ends, so that a line that comes back brings no other with it.
    private mutating func takeOut(
        _ found: [TextAlignment.Move], numbers: inout TextNumbers, effort: inout TextBudget
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
                addChanges(of: lines[next], numbers: &numbers, effort: &effort)
                hunk = TextHunk(base: line.upperBound..<hunk.base.upperBound, side: hunk.side.suffix(0))
                next += 1
            }
            add(hunk)
        }
    }

    /// Adds a hunk; a deletion line by line. Lines moved here are put beside what was deleted, not in its place.
    private mutating func add(_ hunk: TextHunk) {
        if hunk.base.isEmpty, hunk.side.isEmpty { return }
        if !hunk.isPure, holdsMovedLine(hunk.side) {
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

    /// Adds what was changed in a moved line, and places what was not.
    private mutating func addChanges(of line: Int, numbers: inout TextNumbers, effort: inout TextBudget) {
        guard let sideLine = moves[line] else { return }
        let whole = TextHunk(base: base.lines[line], side: tokens.lines[sideLine])
        let changes = TextAlignment(whole, base: base, side: tokens, numbers: &numbers, effort: &effort).hunks
        var (token, place) = (whole.base.lowerBound, whole.side.lowerBound)
        for hunk in slid(changes, in: whole, effort: &effort) + [TextHunk(base: whole.base.suffix(0), side: 0..<0)] {
            while token < hunk.base.lowerBound {
                places[token] = Int32(truncatingIfNeeded: place)
                (token, place) = (token + 1, place + 1)
            }
            (token, place) = (hunk.base.upperBound, hunk.side.upperBound)
            if hunk.base.isEmpty, hunk.side.isEmpty { continue }
            movedLines[hunks.count] = line
            hunks.append(hunk)
        }
    }

    // MARK: Places

    private mutating func placeTokens() {
        places.reserveCapacity(base.count)
        var sideStart: Int32 = 0
        for hunk in hunks + [TextHunk(base: base.count..<base.count, side: 0..<0)] {
            while places.count < hunk.base.lowerBound {
                places.append(sideStart)
                sideStart += 1
            }
            for _ in hunk.base { places.append(-1) }
            sideStart = Int32(truncatingIfNeeded: hunk.side.upperBound)
        }
    }

    private mutating func countWords() {
        keptWords.reserveCapacity(base.count + 1)
        var kept: Int32 = 0
        keptWords.append(kept)
        for token in 0..<base.count {
            if places[token] >= 0, base.isWord(token) { kept += 1 }
            keptWords.append(kept)
        }
    }
}
