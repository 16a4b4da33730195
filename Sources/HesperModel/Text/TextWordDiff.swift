/// Compares two texts by their words.
///
/// All blanks are alike, and so are all blank lines. If they were matched independently of words, the blank line below a
/// paragraph could be matched with a blank line that was inserted above it. The paragraph would count as deleted and inserted,
/// and the merge would duplicate it. Therefore tokens without words are matched only next to tokens that are already matched.
enum TextWordDiff {
    /// First compares the elements at the indices `words` and `sideWords`, then the elements that lie between matched elements.
    static func hunks(
        _ base: [Int32], _ side: [Int32], words: [Int], _ sideWords: [Int], first method: TextDiff.Method,
        budget: inout TextBudget
    ) -> [TextHunk] {
        let differences = TextDiff(
            words.map { base[$0] }[...], sideWords.map { side[$0] }[...], first: method, budget: &budget
        ).hunks
        var hunks: [TextHunk] = []
        var box = TextHunk(base: 0..<0, side: 0..<0)
        func close(_ base: Int, _ side: Int) -> TextHunk {
            TextHunk(
                base: box.base.lowerBound..<base, side: box.side.lowerBound..<side, isCoarse: box.isCoarse)
        }
        var (next, sideNext) = (0, 0)
        for difference in differences + [TextHunk(base: words.count..<words.count, side: 0..<0)] {
            while next < difference.base.lowerBound {
                hunks.append(close(words[next], sideWords[sideNext]))
                let (start, sideStart) = (words[next] + 1, sideWords[sideNext] + 1)
                box = TextHunk(base: start..<start, side: sideStart..<sideStart)
                (next, sideNext) = (next + 1, sideNext + 1)
            }
            (next, sideNext) = (difference.base.upperBound, difference.side.upperBound)
            box.isCoarse = difference.isCoarse
        }
        hunks.append(close(base.count, side.count))
        return hunks.map { $0.trimmed(base[...], side[...], budget: &budget) }
            .filter { !$0.base.isEmpty || !$0.side.isEmpty }
    }
}
