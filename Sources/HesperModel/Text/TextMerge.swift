/// Merges texts that were changed in two places at once (merge.md, Text).
public enum TextMerge {
    /// Merges two edits of one base. `older` is the text whose origin is less.
    ///
    /// What either side inserted stands, what either side deleted goes. Where both replaced the same words inside a
    /// line, the newer's stand. Graphemes and words stay whole. The work is bounded by the size of the texts: what would
    /// take longer to align finely is aligned coarsely.
    public static func merge(base: String, older: String, newer: String) -> String {
        outcome(base: base, older: older, newer: newer).text
    }

    /// What is merged: two edits of one base. `older` is the text whose origin is less.
    public struct Input: Sendable {
        public let base: String
        public let older: String
        public let newer: String

        /// How many bytes of UTF-8 its texts have together.
        public var byteCount: Int { base.utf8.count + older.utf8.count + newer.utf8.count }
        public var outcome: Outcome { TextMerge.outcome(base: base, older: older, newer: newer) }

        /// Whether both have the same bytes.
        func isIdentical(to other: Input) -> Bool {
            base.isIdentical(to: other.base) && older.isIdentical(to: other.older)
                && newer.isIdentical(to: other.newer)
        }
    }

    /// What a merge came to.
    public struct Outcome: Sendable, Equatable {
        public var text: String
        /// Insertions of the older that are not in the text, in the order of the text.
        public var superseded: [Superseded] = []
    }

    /// Words that the older wrote and that are not in the merged text, and what stands instead.
    ///
    /// Replacing `length` UTF-16 code units at `location` of the merged text by `text` brings them back.
    public struct Superseded: Sendable, Equatable {
        public let text: String
        public let location: Int
        public let length: Int
    }

    /// The same, and which words of the older had to make room.
    public static func outcome(base: String, older: String, newer: String) -> Outcome {
        var effort: TextBudget?
        return outcome(base: base, older: older, newer: newer, effort: &effort)
    }

    /// The same; says how much work it was, or nil when there was nothing to align.
    static func merge(base: String, older: String, newer: String, effort: inout TextBudget?) -> String {
        outcome(base: base, older: older, newer: newer, effort: &effort).text
    }

    private static func outcome(base: String, older: String, newer: String, effort: inout TextBudget?) -> Outcome {
        if isSame(older, newer) || isSame(base, older) { return Outcome(text: newer) }
        if isSame(base, newer) { return Outcome(text: older) }
        var lines = TextNumbers(capacity: base.utf8.count / 32)
        let base = TextTokens(base, numbers: &lines)
        let olderTokens = TextTokens(older, numbers: &lines)
        let newerTokens = TextTokens(newer, numbers: &lines)
        var spent = TextBudget(tokens: base.count + olderTokens.count + newerTokens.count)
        var numbers = TextNumbers()
        let plan = TextPlan(
            base: base, older: TextSide(base: base, side: olderTokens, numbers: &numbers, effort: &spent),
            newer: TextSide(base: base, side: newerTokens, numbers: &numbers, effort: &spent))
        effort = spent
        let weave = TextWeave(plan: plan)
        return Outcome(
            text: String(decoding: weave.output.bytes, as: UTF8.self), superseded: superseded(weave))
    }

    /// The contests that took words of the older's: an insertion all of whose words are in what stands is represented.
    private static func superseded(_ weave: TextWeave) -> [Superseded] {
        if weave.contests.isEmpty { return [] }
        var superseded: [Superseded] = []
        var (done, location) = (0, 0)
        let bytes = weave.output.bytes
        for contest in weave.contests.sorted(by: { $0.output.lowerBound < $1.output.lowerBound }) {
            let text = String(decoding: weave.plan[.older].bytes(of: contest.older), as: UTF8.self)
            let standing = String(decoding: bytes[contest.output], as: UTF8.self)
            location += String(decoding: bytes[done..<contest.output.lowerBound], as: UTF8.self).utf16.count
            done = contest.output.lowerBound
            if TextWords(of: text).hasMore(than: TextWords(of: standing)) {
                superseded.append(Superseded(text: text, location: location, length: standing.utf16.count))
            }
        }
        return superseded
    }

    /// Equal byte for byte; `==` would take two spellings of one character for the same.
    private static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
