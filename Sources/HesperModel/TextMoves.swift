/// Lines that one side moved whole while the other changed them where they were.
///
/// A move looks like a deletion and an insertion. Taken so, the changed line would stand in its old place and the
/// unchanged one in its new: the same paragraph twice. So the change goes along with the move.
struct TextMoves {
    typealias Piece = TextTriple.Piece
    typealias Source = TextTriple.Source

    /// What stands in place of the tokens of one side.
    struct Change {
        let tokens: Range<Int>
        let pieces: [Piece]
    }

    let texts: TextTriple
    /// By the side that moved, and its first token of the line.
    private var changes: [Source: [Int: Change]] = [:]

    init(texts: TextTriple) { self.texts = texts }

    /// Takes the changes of moved lines out of the hunks of the side that did not move them.
    mutating func take(from hunks: inout (older: [TextHunk], newer: [TextHunk])) {
        let older = moved(by: .older, hunks.older)
        let newer = moved(by: .newer, hunks.newer)
        hunks.newer = follow(older, of: .older, changedBy: .newer, hunks.newer)
        hunks.older = follow(newer, of: .newer, changedBy: .older, hunks.older)
    }

    /// The merged text with the changes of moved lines in their new places, or nil if one of those is not there.
    func applied(to pieces: [Piece]) -> [Piece]? {
        if changes.isEmpty { return pieces }
        var applied: [Piece] = []
        applied.reserveCapacity(pieces.count)
        var index = 0
        var count = 0
        while index < pieces.count {
            let piece = pieces[index]
            if let change = changes[piece.source]?[piece.token], index + change.tokens.count <= pieces.count,
                pieces[index + change.tokens.count - 1]
                    == Piece(source: piece.source, token: change.tokens.upperBound - 1)
            {
                applied += change.pieces
                index += change.tokens.count
                count += 1
            } else {
                applied.append(piece)
                index += 1
            }
        }
        return count == changes.values.reduce(0) { $0 + $1.count } ? applied : nil
    }

    /// A line of the base, without its break, and where its words are now.
    private struct Move {
        let base: Range<Int>
        let side: Range<Int>
    }

    /// The lines that one side deleted and put in elsewhere, that stand once in the base and once in the side, in the
    /// order of the base.
    private func moved(by source: Source, _ hunks: [TextHunk]) -> [Move] {
        let (base, side) = (texts.base, texts[source])
        var numbers = TextNumbers()
        var places: [Int32: Int] = [:]
        var often: Set<Int32> = []
        for line in side.lineStarts.indices.dropLast() {
            let number = numbers.number(of: side.content(line))
            if places.updateValue(line, forKey: number) != nil { often.insert(number) }
        }
        var seen: Set<Int32> = []
        var moves: [(number: Int32, move: Move)] = []
        var next = 0
        for line in base.lineStarts.indices.dropLast() {
            let number = numbers.number(of: base.content(line))
            if !seen.insert(number).inserted { often.insert(number) }
            let range = base.contentTokens(line)
            while next < hunks.count, hunks[next].base.upperBound < range.upperBound { next += 1 }
            guard next < hunks.count, hunks[next].base.lowerBound <= range.lowerBound, base.hasWords(range),
                let place = places[number]
            else { continue }
            moves.append((number, Move(base: range, side: side.contentTokens(place))))
        }
        return moves.filter { !often.contains($0.number) }.map(\.move)
    }

    private mutating func follow(
        _ moves: [Move], of mover: Source, changedBy source: Source, _ hunks: [TextHunk]
    ) -> [TextHunk] {
        var taken: Set<Int> = []
        var first = 0
        for move in moves {
            while first < hunks.count, hunks[first].base.upperBound < move.base.lowerBound { first += 1 }
            var end = first
            while end < hunks.count, hunks[end].base.lowerBound <= move.base.upperBound { end += 1 }
            let within = (first..<end).filter { isWithin(hunks[$0], move.base, texts[source]) }
            let isClean = (first..<end).allSatisfy {
                isWithin(hunks[$0], move.base, texts[source]) || !hunks[$0].base.overlaps(move.base)
            }
            let pieces = text(of: move.base, within.map { hunks[$0] }, from: source)
            if isClean, !within.isEmpty, pieces.contains(where: { !texts[$0.source].isGap($0.token) }) {
                changes[mover, default: [:]][move.side.lowerBound] = Change(tokens: move.side, pieces: pieces)
                taken.formUnion(within)
            }
        }
        return hunks.indices.filter { !taken.contains($0) }.map { hunks[$0] }
    }

    /// Whether a hunk changes this line and nothing else.
    private func isWithin(_ hunk: TextHunk, _ line: Range<Int>, _ side: TextTokens) -> Bool {
        hunk.base.lowerBound >= line.lowerBound && hunk.base.upperBound <= line.upperBound
            && !side.hasBreaks(hunk.side)
    }

    private func text(of line: Range<Int>, _ hunks: [TextHunk], from source: Source) -> [Piece] {
        var pieces: [Piece] = []
        var done = line.lowerBound
        for hunk in hunks {
            pieces += (done..<max(done, hunk.base.lowerBound)).map { Piece(source: .base, token: $0) }
            pieces += hunk.side.map { Piece(source: source, token: $0) }
            done = max(done, hunk.base.upperBound)
        }
        return pieces + (done..<max(done, line.upperBound)).map { Piece(source: .base, token: $0) }
    }
}

extension TextTokens {
    /// The tokens of a line without the break that ends it.
    func contentTokens(_ line: Int) -> Range<Int> {
        let (start, end) = (lineStarts[line], lineStarts[line + 1])
        return start..<(isBreak(end - 1) ? end - 1 : end)
    }

    /// The bytes of a line without the break that ends it.
    func content(_ line: Int) -> ArraySlice<UInt8> {
        let tokens = contentTokens(line)
        return bytes[offsets[tokens.lowerBound]..<offsets[tokens.upperBound]]
    }
}
