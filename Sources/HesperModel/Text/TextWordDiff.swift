/// The difference of two texts, of which only words say what belongs to what.
///
/// A blank, or a blank line, is like any other. Were one matched for itself, the blank line below a paragraph could be
/// taken for one put in above it: the paragraph would count as deleted here and as written there, and come out of the
/// merge twice. So what has no words is matched only where it stands beside what is matched already.
enum TextWordDiff {
    /// Compares what stands at the indices `words` and `sideWords`, then what is between those that are matched.
    static func hunks(
        _ base: [Int32], _ side: [Int32], words: [Int], _ sideWords: [Int], first method: TextDiff.Method,
        effort: inout TextBudget
    ) -> [TextHunk] {
        let differences = TextDiff(
            words.map { base[$0] }[...], sideWords.map { side[$0] }[...], first: method, effort: &effort
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
        return hunks.map { $0.trimmed(base[...], side[...], effort: &effort) }
            .filter { !$0.base.isEmpty || !$0.side.isEmpty }
    }
}
