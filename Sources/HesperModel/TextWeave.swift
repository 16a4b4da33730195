/// Walks the changes of both sides along the base and settles what stands where they meet.
struct TextWeave {
    typealias Piece = TextTriple.Piece
    typealias Source = TextTriple.Source

    let texts: TextTriple
    /// The merged text so far.
    private(set) var pieces: [Piece] = []
    /// Whether words of the older's had to make room for others of the newer's.
    private(set) var olderLostWords = false
    /// How much of the base is dealt with.
    private var done = 0

    init(texts: TextTriple) { self.texts = texts }

    /// Merges two lists of hunks, each in the order of the base.
    mutating func weave(older: [TextHunk], newer: [TextHunk]) {
        var (i, j) = (0, 0)
        while i < older.count || j < newer.count {
            guard i < older.count else {
                apply(newer[j], from: .newer)
                j += 1
                continue
            }
            guard j < newer.count else {
                apply(older[i], from: .older)
                i += 1
                continue
            }
            let (one, other) = (older[i], newer[j])
            if one.isInsertion, other.isInsertion, one.base.lowerBound == other.base.lowerBound {
                keepBase(upTo: one.base.lowerBound)
                pieces += TextInsertions(texts: texts, place: one.base.lowerBound).both(one.side, other.side)
                (i, j) = (i + 1, j + 1)
            } else if precedes(one, other) {
                apply(one, from: .older)
                i += 1
            } else if precedes(other, one) {
                apply(other, from: .newer)
                j += 1
            } else {
                let (start, sideStart) = (i, j)
                (i, j) = (i + 1, j + 1)
                grow(older, &i, newer, &j)
                settle(older[start..<i], newer[sideStart..<j])
            }
        }
        keepBase(upTo: texts.base.count)
    }

    /// Whether one change is over where the other begins, in another word.
    private func precedes(_ one: TextHunk, _ other: TextHunk) -> Bool {
        let place = one.base.upperBound
        if place != other.base.lowerBound { return place < other.base.lowerBound }
        if one.isInsertion || other.isInsertion { return true }
        return texts.base.isGap(place - 1) || texts.base.isGap(place) || texts.base.kinds[place] == .solo
            || texts.base.kinds[place - 1] == .solo
    }

    /// Takes in every further hunk that overlaps what the other side did in this conflict.
    private func grow(_ older: [TextHunk], _ i: inout Int, _ newer: [TextHunk], _ j: inout Int) {
        var grew = true
        while grew {
            grew = false
            if i < older.count, !precedes(newer[j - 1], older[i]) {
                i += 1
                grew = true
            }
            if j < newer.count, !precedes(older[i - 1], newer[j]) {
                j += 1
                grew = true
            }
        }
    }

    private mutating func settle(_ older: ArraySlice<TextHunk>, _ newer: ArraySlice<TextHunk>) {
        guard let one = older.first, let other = newer.first, let oneLast = older.last, let otherLast = newer.last
        else { return }
        let start = min(one.base.lowerBound, other.base.lowerBound)
        let end = max(oneLast.base.upperBound, otherLast.base.upperBound)
        keepBase(upTo: start)
        switch (weight(older, in: texts.older), weight(newer, in: texts.newer)) {
        case (.deletion, .deletion): deleteBoth(older, newer, start..<end)
        case (.change, .deletion), (.change, .blanks), (.deletion, .blanks): take(older, from: .older, start..<end)
        case (.change, .change):
            if !hasWords(of: older, in: newer) { olderLostWords = true }
            take(newer, from: .newer, start..<end)
        default: take(newer, from: .newer, start..<end)
        }
        done = end
    }

    /// Whether all words that the older put in are among those that the newer put in.
    private func hasWords(of older: ArraySlice<TextHunk>, in newer: ArraySlice<TextHunk>) -> Bool {
        var counts: [Int32: Int] = [:]
        for token in newer.lazy.flatMap(\.side) where texts.newer.isWord(token) {
            counts[texts.newer.numbers[token], default: 0] += 1
        }
        for token in older.lazy.flatMap(\.side) where texts.older.isWord(token) {
            guard let count = counts[texts.older.numbers[token]], count > 0 else { return false }
            counts[texts.older.numbers[token]] = count - 1
        }
        return true
    }

    /// What the hunks of one side come to, the least weight first.
    private enum Weight {
        case blanks
        case deletion
        case change
    }

    private func weight(_ hunks: ArraySlice<TextHunk>, in side: TextTokens) -> Weight {
        if hunks.contains(where: { side.hasWords($0.side) }) { return .change }
        if hunks.contains(where: { texts.base.hasWords($0.base) }) { return .deletion }
        return .blanks
    }

    /// What neither side deleted of a range in which neither wrote anything.
    private mutating func deleteBoth(
        _ older: ArraySlice<TextHunk>, _ newer: ArraySlice<TextHunk>, _ range: Range<Int>
    ) {
        if !(older + newer).allSatisfy({ $0.side.isEmpty }) { return take(newer, from: .newer, range) }
        for hunk in (older + newer).sorted(by: { $0.base.lowerBound < $1.base.lowerBound }) {
            keepBase(upTo: hunk.base.lowerBound)
            done = max(done, hunk.base.upperBound)
        }
    }

    /// One side's text of a range of the base.
    private mutating func take(_ hunks: ArraySlice<TextHunk>, from source: Source, _ range: Range<Int>) {
        for hunk in hunks { apply(hunk, from: source) }
        keepBase(upTo: range.upperBound)
    }

    private mutating func apply(_ hunk: TextHunk, from source: Source) {
        keepBase(upTo: hunk.base.lowerBound)
        pieces += hunk.side.map { Piece(source: source, token: $0) }
        done = max(done, hunk.base.upperBound)
    }

    private mutating func keepBase(upTo end: Int) {
        guard done < end else { return }
        pieces += (done..<end).map { Piece(source: .base, token: $0) }
        done = end
    }
}
