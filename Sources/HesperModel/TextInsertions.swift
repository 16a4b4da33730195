/// What stands where both sides inserted something at one place of the base.
struct TextInsertions {
    typealias Piece = TextTriple.Piece

    let texts: TextTriple
    /// The token of the base before which both inserted.
    let place: Int

    /// Both, the older's first; what they have in common at the ends, in whole lines, once.
    func both(_ older: Range<Int>, _ newer: Range<Int>) -> [Piece] {
        let one = pieces(older, .older)
        let other = pieces(newer, .newer)
        if !texts.older.hasWords(older), !texts.newer.hasWords(newer) {
            return other.count >= one.count || texts.newer.hasBreaks(newer) ? other : one
        }
        if isWhole(one, in: other) || one.allSatisfy(isGap) && other.first.map(isGap) == true { return other }
        if isWhole(other, in: one) || other.allSatisfy(isGap) && one.first.map(isGap) == true { return one }
        if goesFirst(other, before: one) { return other + one }
        if goesFirst(one, before: other) { return one + other }
        guard texts.older.hasBreaks(older) || texts.newer.hasBreaks(newer) else { return joined(one, other) }
        let first = commonStart(one, other)
        let (oneRest, otherRest) = (one[first...], other[first...])
        let last = commonEnd(oneRest, otherRest)
        return one[..<first] + joined(oneRest.dropLast(last), otherRest.dropLast(last)) + otherRest.suffix(last)
    }

    private func pieces(_ range: Range<Int>, _ source: TextTriple.Source) -> [Piece] {
        range.map { Piece(source: source, token: $0) }
    }

    private func number(_ piece: Piece) -> Int32 { texts[piece.source].numbers[piece.token] }

    private func isBreak(_ piece: Piece) -> Bool { texts[piece.source].kinds[piece.token] == .lineBreak }

    private func isGap(_ piece: Piece) -> Bool { texts[piece.source].isGap(piece.token) }

    private func isWhole(_ short: [Piece], in long: [Piece]) -> Bool {
        guard short.count <= long.count else { return false }
        return zip(short, long).allSatisfy { number($0) == number($1) }
            || zip(short.reversed(), long.reversed()).allSatisfy { number($0) == number($1) }
    }

    /// Whether one goes on with the line that stands here while the other begins a line below it, or puts a line above
    /// the one that the other's words belong to. Then its words must not end up in the other's line.
    private func goesFirst(_ one: [Piece], before other: [Piece]) -> Bool {
        guard let first = one.first, let last = one.last, let otherFirst = other.first, let otherLast = other.last
        else { return false }
        return !startsHere && !isBreak(first) && isBreak(otherFirst)
            || !endsHere && isBreak(last) && !isBreak(otherLast)
    }

    /// Whether a line of the base starts at this place.
    private var startsHere: Bool { place == 0 || texts.base.isBreak(place - 1) }

    /// Whether a line of the base ends at this place.
    private var endsHere: Bool { place == texts.base.count || texts.base.isBreak(place) }

    /// Whether the lines of an insertion are broken before, not after, each of them.
    private func isLeading(_ pieces: some BidirectionalCollection<Piece>) -> Bool {
        guard let first = pieces.first, let last = pieces.last else { return false }
        return isBreak(first) && !(startsHere && isBreak(last))
    }

    /// How many tokens of whole lines both begin with. Blank lines at the end of those stay with each: they hold
    /// paragraphs apart.
    private func commonStart(_ one: [Piece], _ other: [Piece]) -> Int {
        let isLeading = isLeading(one)
        guard isLeading || startsHere else { return 0 }
        var common = 0
        while common < min(one.count, other.count), number(one[common]) == number(other[common]) { common += 1 }
        while common > 0 {
            let isEdge =
                isLeading
                ? !isGap(one[common - 1]) && endsLine(one, common) && endsLine(other, common)
                : common > 1 && isBreak(one[common - 1]) && !isGap(one[common - 2])
            if isEdge { return common }
            common -= 1
        }
        return 0
    }

    private func endsLine(_ pieces: [Piece], _ end: Int) -> Bool {
        end < pieces.count ? isBreak(pieces[end]) : endsHere
    }

    /// How many tokens of whole lines both end with.
    private func commonEnd(_ one: ArraySlice<Piece>, _ other: ArraySlice<Piece>) -> Int {
        guard let closing = one.last else { return 0 }
        let isLeading = isLeading(one)
        guard endsHere || isBreak(closing) && !isLeading else { return 0 }
        let (mine, theirs) = (Array(one.reversed()), Array(other.reversed()))
        var common = 0
        while common < min(mine.count, theirs.count), number(mine[common]) == number(theirs[common]) { common += 1 }
        while common > 0 {
            let isEdge =
                isLeading
                ? common > 1 && isBreak(mine[common - 1]) && !isGap(mine[common - 2])
                : !isGap(mine[common - 1]) && startsLine(mine, common) && startsLine(theirs, common)
            if isEdge { return common }
            common -= 1
        }
        return 0
    }

    private func startsLine(_ reversed: [Piece], _ start: Int) -> Bool {
        start < reversed.count ? isBreak(reversed[start]) : startsHere
    }

    /// One after the other, without doubling the gap where they meet.
    private func joined(_ one: some Collection<Piece>, _ other: some Collection<Piece>) -> [Piece] {
        var (one, other) = (Array(one), Array(other))
        guard let opening = other.first, let first = one.first, let closing = one.last else { return one + other }
        if !startsHere, isBreak(opening), isBreak(first), isBreak(closing), one.count > 1 {
            // "\nA\n" and "\nB": the break that ended the text after A ends it after B.
            one.removeLast()
            if let last = other.last, !isBreak(last) { other.append(closing) }
        } else if isGap(opening), isGap(closing), !isBreak(closing) {
            one.removeLast()
        }
        return one + other
    }
}
