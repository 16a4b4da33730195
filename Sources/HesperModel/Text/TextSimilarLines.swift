/// Finds lines that one side both moved and changed. A deleted line of the base and a line inserted elsewhere are treated as one
/// moved line if more than half of the words of each line are also in the other line.
struct TextSimilarLines {
    private(set) var moves: [TextAlignment.Move] = []

    /// Compares the lines that hunks delete completely with the lines that hunks insert completely. Lines that were moved
    /// unchanged are excluded. The comparison uses only words that occur once in the deleted lines and once in the inserted
    /// lines.
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

    /// The lines that contain words and are completely within one of the ranges of tokens, except those in `known`.
    private static func lines(of text: TextTokens, in ranges: [Range<Int>], but known: Set<Int>) -> [Int] {
        ranges.flatMap { range in
            let first = text.lines.partitioningIndex { $0.lowerBound >= range.lowerBound }
            return text.lines[first...].prefix { $0.upperBound <= range.upperBound }.indices
                .filter { !known.contains($0) && text.hasWords(text.lines[$0]) }
        }
    }

    /// Returns, for each word, the line that contains it, or nil if the word occurs more than once. Also returns, for each line,
    /// the count of its words.
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
