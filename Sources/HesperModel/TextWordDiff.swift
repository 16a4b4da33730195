/// The difference of two texts, of which only words say what belongs to what.
///
/// A blank, or a blank line, is like any other. Were one matched for itself, the blank line below a paragraph could be
/// taken for one put in above it: the paragraph would count as deleted here and as written there, and come out of the
/// merge twice. So what has no words is matched only where it stands beside what is matched already.
enum TextWordDiff {
    /// What differs, in lines.
    static func lines(_ base: TextTokens, _ side: TextTokens, effort: inout TextEffort) -> [TextHunk] {
        hunks(
            base.lineNumbers[...], side.lineNumbers[...], words: base.linesWithWords, side.linesWithWords,
            effort: &effort)
    }

    /// What differs between some tokens of the base and some of the side.
    static func tokens(
        _ range: TextHunk, _ base: TextTokens, _ side: TextTokens, effort: inout TextEffort
    ) -> [TextHunk] {
        hunks(
            base.numbers[range.base], side.numbers[range.side], words: range.base.filter(base.isWord),
            range.side.filter(side.isWord), effort: &effort)
    }

    /// Compares what stands at the indices `words` and `sideWords`, then what is between those that are matched.
    private static func hunks(
        _ base: ArraySlice<Int32>, _ side: ArraySlice<Int32>, words: [Int], _ sideWords: [Int],
        effort: inout TextEffort
    ) -> [TextHunk] {
        let differences = TextDiff(words.map { base[$0] }[...], sideWords.map { side[$0] }[...], effort: &effort).hunks
        var anchors: [TextDiff.Anchor] = []
        var (next, sideNext) = (0, 0)
        for hunk in differences + [TextHunk(base: words.count..<words.count, side: sideWords.indices)] {
            while next < hunk.base.lowerBound {
                anchors.append(TextDiff.Anchor(base: words[next], side: sideWords[sideNext]))
                (next, sideNext) = (next + 1, sideNext + 1)
            }
            (next, sideNext) = (hunk.base.upperBound, hunk.side.upperBound)
        }
        return TextDiff.boxes(of: TextHunk(base: base.indices, side: side.indices), between: anchors)
            .map { $0.trimmed(base, side, effort: &effort) }
            .filter { !$0.base.isEmpty || !$0.side.isEmpty }
    }
}

extension TextTokens {
    /// The lines that hold more than blanks and punctuation: neither blank ones nor rules such as "---".
    fileprivate var linesWithWords: [Int] {
        lineStarts.indices.dropLast().filter { (lineStarts[$0]..<lineStarts[$0 + 1]).contains(where: isReadAloud) }
    }

    /// Whether a token is a character of a script without blanks, an emoji, or a word with a letter or a digit.
    private func isReadAloud(_ token: Int) -> Bool {
        guard kinds[token] == .word else { return kinds[token] == .solo }
        return String(decoding: bytes(of: token), as: UTF8.self).unicodeScalars.contains {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
    }
}
