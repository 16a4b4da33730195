/// Finds lines that one side moved and changed: deleted in one place, and inserted elsewhere with more than half of their words.
struct TextSimilarLines {
    private(set) var moves: [TextAlignment.Move] = []

    /// Compares the lines that the hunks delete or insert completely, except those that were moved unchanged. Only words that
    /// occur once in the deleted lines and once in the inserted lines identify a line.
    init(base: TextTokens, side: TextTokens, hunks: [TextHunk], moves known: [TextAlignment.Move]) {
        let deleted = Self.lines(of: base, in: hunks.map(\.base), but: Set(known.map(\.line)))
        let inserted = Self.lines(of: side, in: hunks.map(\.side), but: Set(known.map(\.sideLine)))
        if deleted.isEmpty || inserted.isEmpty { return }
        var numbers = TextNumbers()
        let words = Self.words(of: deleted, in: base, &numbers)
        let sideWords = Self.words(of: inserted, in: side, &numbers)
        var votes: [Int: [Int: Int]] = [:]
        for (word, line) in words.lines {
            if let line, let sideLine = sideWords.lines[word], let sideLine {
                votes[line, default: [:]][sideLine, default: 0] += 1
            }
        }
        for (line, lines) in votes.sorted(by: { $0.key < $1.key }) {
            for (sideLine, count) in lines
            where count * 2 > words.counts[line] ?? 0 && count * 2 > sideWords.counts[sideLine] ?? 0 {
                moves.append(TextAlignment.Move(line: line, sideLine: sideLine))
            }
        }
    }

    /// The lines with words that are within one of the ranges of tokens.
    private static func lines(of text: TextTokens, in ranges: [Range<Int>], but known: Set<Int>) -> [Int] {
        ranges.flatMap { range in
            let first = text.lines.partitioningIndex { $0.lowerBound >= range.lowerBound }
            return text.lines[first...].prefix { $0.upperBound <= range.upperBound }.indices
                .filter { !known.contains($0) && text.hasWords(text.lines[$0]) }
        }
    }

    /// The line that contains each word, nil for words that occur more than once; and the number of words in each line.
    private static func words(
        of lines: [Int], in text: TextTokens, _ numbers: inout TextNumbers
    ) -> (lines: [Int32: Int?], counts: [Int: Int]) {
        var found: [Int32: Int?] = [:]
        var counts: [Int: Int] = [:]
        for line in lines {
            for token in text.lines[line] where text.isWord(token) {
                counts[line, default: 0] += 1
                let word = numbers.number(of: text.bytes(of: token))
                found.updateValue(found[word] == nil ? line : nil, forKey: word)
            }
        }
        return (found, counts)
    }
}
