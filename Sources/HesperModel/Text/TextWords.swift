/// The words of a text, with the number of times that each occurs.
struct TextWords {
    private var counts: [ArraySlice<UInt8>: Int] = [:]

    init(of text: String) {
        var numbers = TextNumbers()
        let tokens = TextTokens(text, numbers: &numbers)
        for token in 0..<tokens.count where tokens.isWord(token) { counts[tokens.bytes(of: token), default: 0] += 1 }
    }

    var isEmpty: Bool { counts.isEmpty }

    /// Whether this text contains a word that none of the other texts contains.
    func hasWords(beyond others: [TextWords]) -> Bool {
        counts.keys.contains { word in others.allSatisfy { $0.counts[word] == nil } }
    }

    /// Whether some word occurs more often in this text than in `other`.
    func hasMore(than other: TextWords) -> Bool {
        counts.contains { word, count in count > other.counts[word, default: 0] }
    }
}
