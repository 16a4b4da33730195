/// Merges texts that were changed in two places at once (merge.md, Text).
public enum TextMerge {
    /// Merges two edits of one base. `older` is the text whose clock is less.
    ///
    /// Changes that do not overlap both stand; insertions at one place both stand, the older's first. Where both
    /// replaced the same words the newer's stand, and a change stands against a deletion. Graphemes and words stay
    /// whole. The work is bounded by the size of the texts: what would take longer to align finely is aligned coarsely.
    public static func merge(base: String, older: String, newer: String) -> String {
        outcome(base: base, older: older, newer: newer).text
    }

    /// What a merge came to.
    public struct Outcome: Sendable, Equatable {
        public var text: String
        /// Whether the older wrote words that are not in it, because the newer replaced the same words with others.
        public var olderLostWords = false
    }

    /// The same, and whether words were lost.
    public static func outcome(base: String, older: String, newer: String) -> Outcome {
        var effort: TextEffort?
        return outcome(base: base, older: older, newer: newer, effort: &effort)
    }

    /// The same; says how much work it was, or nil when there was nothing to align.
    static func merge(base: String, older: String, newer: String, effort: inout TextEffort?) -> String {
        outcome(base: base, older: older, newer: newer, effort: &effort).text
    }

    private static func outcome(base: String, older: String, newer: String, effort: inout TextEffort?) -> Outcome {
        if isSame(older, newer) || isSame(base, older) { return Outcome(text: newer) }
        if isSame(base, newer) { return Outcome(text: older) }
        let ends = TextEnds([Array(base.utf8), Array(older.utf8), Array(newer.utf8)])
        var words = TextNumbers()
        var lines = TextNumbers()
        let texts = TextTriple(
            base: TextTokens(ends.middles[0], words: &words, lines: &lines),
            older: TextTokens(ends.middles[1], words: &words, lines: &lines),
            newer: TextTokens(ends.middles[2], words: &words, lines: &lines))
        var spent = TextEffort(tokens: texts.base.count + texts.older.count + texts.newer.count)
        let hunks = texts.hunks(effort: &spent)
        effort = spent
        let weave = texts.merged(hunks)
        var middle = TextOutput(texts: texts, pieces: texts.withoutDoubles(weave.pieces)).bytes
        if let last = middle.last, !ends.end.isEmpty, last != 0x0A {
            // The line below was whole in all three: nothing of the middle may run into it, nor a CR into its LF.
            if last == 0x0D { middle.removeLast() }
            middle.append(0x0A)
        }
        return Outcome(
            text: String(decoding: ends.start + middle + ends.end, as: UTF8.self), olderLostWords: weave.olderLostWords)
    }

    /// Equal byte for byte; `==` would take two spellings of one character for the same.
    private static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}

/// The three texts of a merge, cut into tokens that are numbered together.
struct TextTriple: Sendable {
    /// Which of the three.
    enum Source: UInt8, Sendable {
        case base
        case older
        case newer
    }

    /// A token of one of the three, as part of the merged text.
    struct Piece: Equatable, Sendable {
        let source: Source
        let token: Int
    }

    let base: TextTokens
    let older: TextTokens
    let newer: TextTokens

    subscript(source: Source) -> TextTokens {
        switch source {
        case .base: base
        case .older: older
        case .newer: newer
        }
    }

    /// What both sides did to the base, in tokens: by words where both touched the same lines, else by lines.
    func hunks(effort: inout TextEffort) -> (older: [TextHunk], newer: [TextHunk]) {
        let olderLines = TextWordDiff.lines(base, older, effort: &effort)
        let newerLines = TextWordDiff.lines(base, newer, effort: &effort)
        let olderSide = TextRefinement(base: base, side: older)
        let newerSide = TextRefinement(base: base, side: newer)
        var hunks: (older: [TextHunk], newer: [TextHunk]) = ([], [])
        for region in TextRegion.regions(older: olderLines, newer: newerLines) {
            if let one = region.whole(region.older), let other = region.whole(region.newer) {
                hunks.older += olderSide.hunks(one, effort: &effort)
                hunks.newer += newerSide.hunks(other, effort: &effort)
            } else {
                hunks.older += region.older.map { olderSide.tokens($0) }
                hunks.newer += region.newer.map { newerSide.tokens($0) }
            }
        }
        return hunks
    }

    /// The merged text: with changes taken along where lines were moved, if their new places are in it.
    func merged(_ hunks: (older: [TextHunk], newer: [TextHunk])) -> (pieces: [Piece], olderLostWords: Bool) {
        var moves = TextMoves(texts: self)
        var rest = hunks
        moves.take(from: &rest)
        let weave = woven(rest)
        if let pieces = moves.applied(to: weave.pieces) { return (pieces, weave.olderLostWords) }
        let plain = woven(hunks)
        return (plain.pieces, plain.olderLostWords)
    }

    private func woven(_ hunks: (older: [TextHunk], newer: [TextHunk])) -> TextWeave {
        var weave = TextWeave(texts: self)
        weave.weave(older: hunks.older, newer: hunks.newer)
        return weave
    }
}
