/// Compares the base of a merge with one side (merge.md, Text). A side is one of the two texts that were edited from the base.
/// Lines are compared first. Then the words are compared in the lines that differ.
struct TextAlignment {
    /// A moved line: its index in the base and its index in the side.
    struct Move {
        let line: Int
        let sideLine: Int
    }

    private let base: TextTokens
    private let side: TextTokens
    /// The differences between the base and the side, as ranges of tokens. A moved line is listed twice, as a deletion and as an
    /// insertion. ``TextSide`` later moves some insertions and deletions to equivalent places.
    private(set) var hunks: [TextHunk] = []
    /// The lines that were deleted in one place and inserted unchanged in another.
    private(set) var moves: [Move] = []
    /// The ranges of the tokens of moved lines, in the base and in the side. These tokens are not matched with other tokens.
    private(set) var movedTokens: (base: [Range<Int>], side: [Range<Int>]) = ([], [])
    /// For each moved line, the range of its tokens in the side. The key is the first token of the range.
    private var movedStarts: [Int: Range<Int>] = [:]

    init(base: TextTokens, side: TextTokens, numbers: inout TextNumbers, budget: inout TextBudget) {
        self.base = base
        self.side = side
        let lines = TextWordDiff.hunks(
            base.lineNumbers, side.lineNumbers, words: base.linesWithWords, side.linesWithWords, first: .anchors,
            budget: &budget)
        findMoves(lines)
        var done = TextHunk(base: 0..<0, side: 0..<0)
        for hunk in lines {
            compareBreaks(from: done, to: hunk)
            compareTokens(
                TextHunk(base: base.tokens(around: hunk.base), side: side.tokens(around: hunk.side)),
                numbers: &numbers, budget: &budget)
            done = hunk
        }
        compareBreaks(
            from: done,
            to: TextHunk(
                base: base.lines.count..<base.lines.count, side: side.lines.count..<side.lines.count))
    }

    /// Compares one line of the base with one line of the side.
    init(
        _ line: TextHunk, base: TextTokens, side: TextTokens, numbers: inout TextNumbers, budget: inout TextBudget
    ) {
        self.base = base
        self.side = side
        compareTokens(line, numbers: &numbers, budget: &budget)
    }

    /// Finds moved lines. A line was moved if it contains a word, occurs once in each text, and was not matched when the lines
    /// were compared.
    private mutating func findMoves(_ hunks: [TextHunk]) {
        let deleted = hunks.flatMap(\.base)
        let inserted = hunks.flatMap(\.side)
        if deleted.isEmpty || inserted.isEmpty { return }
        var positions: [Int32: Int] = [:]
        for line in inserted where !side.lines[line].isEmpty { positions[side.lineNumbers[line]] = line }
        let candidates = deleted.filter { positions[base.lineNumbers[$0]] != nil && base.hasWords(base.lines[$0]) }
        if candidates.isEmpty { return }
        let (counts, sideCounts) = (Self.counts(base.lineNumbers), Self.counts(side.lineNumbers))
        for line in candidates {
            let number = base.lineNumbers[line]
            guard counts[Int(number)] == 1, let position = positions[number], sideCounts[Int(number)] == 1 else {
                continue
            }
            moves.append(Move(line: line, sideLine: position))
        }
        movedTokens.base = moves.map { base.lines[$0.line] }
        movedTokens.side = moves.map { side.lines[$0.sideLine] }.sorted { $0.lowerBound < $1.lowerBound }
        for tokens in movedTokens.side { movedStarts[tokens.lowerBound] = tokens }
    }

    /// How many times each number occurs in `numbers`. The count for the number n is at the index n of the result.
    private static func counts(_ numbers: [Int32]) -> [Int] {
        var counts = Array(repeating: 0, count: Int(numbers.max() ?? -1) + 1)
        for number in numbers { counts[Int(number)] += 1 }
        return counts
    }

    /// Compares the line breaks that end matched lines. They may differ, because lines match even if one line ends with LF and
    /// the other with CR LF.
    private mutating func compareBreaks(from: TextHunk, to: TextHunk) {
        var (line, sideLine) = (from.base.upperBound, from.side.upperBound)
        while line + 1 < to.base.lowerBound {
            let (end, sideEnd) = (base.lines[line].upperBound, side.lines[sideLine].upperBound)
            if !base.bytes(of: end).elementsEqual(side.bytes(of: sideEnd)) {
                hunks.append(TextHunk(base: end..<(end + 1), side: sideEnd..<(sideEnd + 1)))
            }
            (line, sideLine) = (line + 1, sideLine + 1)
        }
    }

    /// Compares the tokens of lines that differ, from the end of the matched line above to the start of the matched line below.
    private mutating func compareTokens(_ region: TextHunk, numbers: inout TextNumbers, budget: inout TextBudget) {
        let one = self.numbers(of: region.base, in: base, moved: movedTokens.base, as: -1, &numbers)
        let other = self.numbers(of: region.side, in: side, moved: movedTokens.side, as: -2, &numbers)
        let (start, sideStart) = (region.base.lowerBound, region.side.lowerBound)
        let found = TextWordDiff.hunks(
            one, other, words: one.indices.filter { one[$0] >= 0 && base.isWord($0 + start) },
            other.indices.filter { other[$0] >= 0 && side.isWord($0 + sideStart) }, first: .search, budget: &budget)
        for hunk in found {
            let hunk = TextHunk(
                base: (hunk.base.lowerBound + start)..<(hunk.base.upperBound + start),
                side: (hunk.side.lowerBound + sideStart)..<(hunk.side.upperBound + sideStart),
                isCoarse: hunk.isCoarse)
            if hunk.isPure || hunk.isCoarse && !haveAsManyLines(hunk) { hunks.append(hunk) } else { pairLines(hunk) }
        }
    }

    /// Numbers for the tokens in a range: equal tokens have equal numbers. Tokens of moved lines have the number `none`, which
    /// matches no other token.
    private func numbers(
        of range: Range<Int>, in text: TextTokens, moved: [Range<Int>], as none: Int32, _ numbers: inout TextNumbers
    ) -> [Int32] {
        var result = range.map { numbers.number(of: text.bytes(of: $0)) }
        for tokens in moved[moved.partitioningIndex { $0.lowerBound >= range.lowerBound }...] {
            if tokens.lowerBound >= range.upperBound { break }
            for token in tokens { result[token - range.lowerBound] = none }
        }
        return result
    }

    private func haveAsManyLines(_ hunk: TextHunk) -> Bool {
        base.kinds[hunk.base].count { $0 == .lineBreak } == side.kinds[hunk.side].count { $0 == .lineBreak }
    }

    /// Splits a replacement of several lines into one replacement for each line. The lines of both texts are paired in their
    /// order. Lines without a partner are insertions or deletions. A line that the side moved here from another place is an
    /// insertion too, and has no partner.
    private mutating func pairLines(_ hunk: TextHunk) {
        var (start, sideStart) = (hunk.base.lowerBound, hunk.side.lowerBound)
        var breaks = (start..<hunk.base.upperBound).filter(base.isBreak)[...]
        while true {
            sideStart = addMovedLines(from: sideStart, to: hunk.side.upperBound, at: start)
            guard let end = breaks.popFirst(),
                let sideEnd = (sideStart..<hunk.side.upperBound).first(where: side.isBreak)
            else { break }
            split(TextHunk(base: start..<end, side: sideStart..<sideEnd, isCoarse: hunk.isCoarse))
            (start, sideStart) = (end + 1, sideEnd + 1)
            if base.bytes(of: end) != side.bytes(of: sideEnd) {
                hunks.append(TextHunk(base: end..<start, side: sideEnd..<sideStart))
            }
        }
        let rest = start..<hunk.base.upperBound
        let sideRest = sideStart..<hunk.side.upperBound
        let isReplacedByMove = !rest.isEmpty && base.startsLine(start) && movedStarts[sideStart] == sideRest
        if isReplacedByMove, rest.upperBound < base.count, base.isBreak(rest.upperBound) {
            // A line is inserted or deleted together with the line break at its end.
            hunks.append(TextHunk(base: rest.prefix(0), side: sideStart..<(sideRest.upperBound + 1)))
            let done = sideRest.upperBound + 1
            hunks.append(TextHunk(base: start..<(rest.upperBound + 1), side: done..<done))
        } else {
            split(TextHunk(base: rest, side: sideRest, isCoarse: hunk.isCoarse))
        }
    }

    /// If a line of the base starts at `start` and moved lines begin at `sideStart`, inserts the moved lines with their line
    /// breaks. Returns the position in the side after the inserted lines, or `sideStart` if there are none.
    private mutating func addMovedLines(from sideStart: Int, to end: Int, at start: Int) -> Int {
        var next = sideStart
        while base.startsLine(start), let moved = movedStarts[next], moved.upperBound < end {
            next = moved.upperBound + 1
        }
        if next > sideStart { hunks.append(TextHunk(base: start..<start, side: sideStart..<next)) }
        return next
    }

    /// Adds the differences within a replacement, as several hunks if necessary. Line breaks of the base have already been paired
    /// with line breaks of the side, and the replacement lies between two such pairs. So at most one of its two ranges contains
    /// line breaks.
    private mutating func split(_ hunk: TextHunk) {
        var (base, side) = (hunk.base, hunk.side)
        while let one = base.first, let other = side.first, isSame(one, other) {
            (base, side) = (base.dropFirst(), side.dropFirst())
        }
        while let one = base.last, let other = side.last, isSame(one, other) {
            (base, side) = (base.dropLast(), side.dropLast())
        }
        if base.isEmpty || side.isEmpty {
            add(base, side)
        } else if hunk.isCoarse, base.count > 1, side.count > 1 {
            hunks.append(TextHunk(base: base, side: side, isCoarse: true))
        } else if isContinued(base, side) {
            add(base, side.prefix(1))
            add(base.suffix(0), side.dropFirst())
        } else if let first = base.first(where: self.base.isBreak), let last = base.last(where: self.base.isBreak) {
            let isAboveWords =
                self.base.startsLine(base.lowerBound) && base.upperBound < self.base.count
                && (last == base.upperBound - 1 || !self.base.endsLine(base.upperBound))
            if isAboveWords {
                // Whole lines were deleted, and the start of the line below was changed.
                add(base.lowerBound..<(last + 1), side.prefix(0))
                add((last + 1)..<base.upperBound, side)
            } else {
                add(base.lowerBound..<first, side)
                add(first..<base.upperBound, side.suffix(0))
            }
        } else if let first = side.first(where: self.side.isBreak) {
            // A line was changed, and lines were added below it.
            add(base, side.lowerBound..<first)
            add(base.suffix(0), first..<side.upperBound)
        } else {
            add(base, side)
        }
    }

    private mutating func add(_ base: Range<Int>, _ side: Range<Int>) {
        if !base.isEmpty || !side.isEmpty { hunks.append(TextHunk(base: base, side: side)) }
    }

    /// Whether the user completed a half-written word of the base and continued writing: `base` is one word, and `side` begins with
    /// a longer word that starts with it.
    private func isContinued(_ base: Range<Int>, _ side: Range<Int>) -> Bool {
        guard base.count == 1, side.count > 1, !movedTokens.side.containsToken(side.lowerBound) else { return false }
        let (word, longer) = (base.lowerBound, side.lowerBound)
        return self.base.kinds[word] == .word && self.side.kinds[longer] == .word
            && self.side.bytes(of: longer).starts(with: self.base.bytes(of: word))
    }

    private func isSame(_ token: Int, _ sideToken: Int) -> Bool {
        base.kinds[token] == side.kinds[sideToken]
            && base.bytes(of: token).elementsEqual(side.bytes(of: sideToken))
            && !movedTokens.base.containsToken(token) && !movedTokens.side.containsToken(sideToken)
    }
}

extension TextTokens {
    /// The tokens of some lines, with the line breaks before and after them.
    fileprivate func tokens(around lines: Range<Int>) -> Range<Int> {
        let start = lines.lowerBound > 0 ? self.lines[lines.lowerBound - 1].upperBound : 0
        return start..<(lines.upperBound < self.lines.count ? self.lines[lines.upperBound].lowerBound : count)
    }
}

extension [Range<Int>] {
    /// Whether one of the ranges, which must be sorted, contains a token.
    func containsToken(_ token: Int) -> Bool {
        let next = partitioningIndex { $0.upperBound > token }
        return next < count && self[next].contains(token)
    }
}

extension Array {
    /// The index of the first element for which the predicate is true; the count if there is none. The predicate must be false
    /// for all elements before that one and true for all elements after it.
    func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
