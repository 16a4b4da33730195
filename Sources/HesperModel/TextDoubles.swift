extension TextTriple {
    /// The fewest words of a line that two people would not write alike by chance.
    private static let paragraphWords = 3

    /// Leaves out a copy of a line that stands more often than in any of the three texts: a paragraph that both sides
    /// moved, or pasted, must not stand twice. The older's copy goes, or else the one in its old place.
    func withoutDoubles(_ pieces: [Piece]) -> [Piece] {
        let lines = Self.lines(pieces, in: self)
        var numbers = TextNumbers()
        let merged = lines.map { numbers.number(of: content($0, of: pieces)) }
        let counts = [base, older, newer].map { text in
            var counts: [Int32: Int] = [:]
            for line in text.lineStarts.indices.dropLast() {
                counts[numbers.number(of: text.content(line)), default: 0] += 1
            }
            return counts
        }
        var places: [Int32: [Int]] = [:]
        for (index, number) in merged.enumerated() { places[number, default: []].append(index) }

        var left: Set<Int> = []
        for (number, places) in places where places.count > 1 {
            let (inBase, inOlder, inNewer) = (counts[0][number] ?? 0, counts[1][number] ?? 0, counts[2][number] ?? 0)
            let words = words(pieces[lines[places[0]]])
            let isMoved = words > 0 && inBase > 0 && inOlder <= inBase && inNewer <= inBase
            guard isMoved || words >= Self.paragraphWords else { continue }
            let whole = [Source.older, .base, .newer].flatMap { source in
                places.filter { pieces[lines[$0]].allSatisfy { $0.source == source || isBreak($0) } }
            }
            let copies = whole + places.filter { !whole.contains($0) }
            left.formUnion(copies.prefix(max(0, places.count - max(1, inBase, inOlder, inNewer))))
        }
        if left.isEmpty { return pieces }
        var kept: [Piece] = []
        for (index, line) in lines.enumerated() where !left.contains(index) { kept += pieces[line] }
        if left.contains(lines.count - 1), let end = pieces.last, !self[end.source].isBreak(end.token),
            let last = kept.last, self[last.source].isBreak(last.token)
        {
            kept.removeLast()
        }
        return kept
    }

    private static func lines(_ pieces: [Piece], in texts: TextTriple) -> [Range<Int>] {
        let output = TextOutput(texts: texts, pieces: pieces)
        var lines: [Range<Int>] = []
        var start = 0
        for (index, piece) in pieces.enumerated()
        where texts[piece.source].isBreak(piece.token) || output.beginsLine(after: index) {
            lines.append(start..<(index + 1))
            start = index + 1
        }
        if start < pieces.count { lines.append(start..<pieces.count) }
        return lines
    }

    private func isBreak(_ piece: Piece) -> Bool { self[piece.source].isBreak(piece.token) }

    private func words(_ line: ArraySlice<Piece>) -> Int {
        line.count { self[$0.source].kinds[$0.token] == .word || self[$0.source].kinds[$0.token] == .solo }
    }

    private func content(_ line: Range<Int>, of pieces: [Piece]) -> ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        for piece in pieces[line] where !self[piece.source].isBreak(piece.token) {
            bytes += self[piece.source].bytes(of: piece.token)
        }
        return bytes[...]
    }
}
