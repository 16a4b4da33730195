/// Merges two edits of one text (merge.md, Text).
public enum TextMerge {
    /// Merges two edits of one base. `older` is the text with the smaller origin.
    ///
    /// The insertions of both sides are kept and the deletions of both sides are applied. If both replaced the same words within
    /// a line, the newer replacement wins. Graphemes and words are never split. The work is linear in the size of the texts: what
    /// would take longer to align finely is aligned coarsely.
    public static func merge(base: String, older: String, newer: String) -> String {
        outcome(base: base, older: older, newer: newer).text
    }

    /// The texts to merge: two edits of one base. `older` is the text with the smaller origin.
    public struct Input: Sendable {
        public let base: String
        public let older: String
        public let newer: String

        /// The total size of the texts, in bytes of UTF-8.
        public var byteCount: Int { base.utf8.count + older.utf8.count + newer.utf8.count }
        public var outcome: Outcome { TextMerge.outcome(base: base, older: older, newer: newer) }

        /// Whether both inputs have the same bytes.
        func isIdentical(to other: Input) -> Bool {
            base.isIdentical(to: other.base) && older.isIdentical(to: other.older)
                && newer.isIdentical(to: other.newer)
        }
    }

    /// The result of a merge.
    public struct Outcome: Sendable, Equatable {
        public var text: String
        /// Insertions of the older text that the merged text lacks, in the order of the merged text.
        public var superseded: [Superseded] = []
    }

    /// Words of the older text that the merged text lacks, and the location of what replaced them.
    ///
    /// To restore them, replace `length` UTF-16 code units at `location` of the merged text with `text`.
    public struct Superseded: Sendable, Equatable {
        public let text: String
        public let location: Int
        public let length: Int
    }

    /// The merged text, and the words of the older text that were superseded.
    public static func outcome(base: String, older: String, newer: String) -> Outcome {
        var budget: TextBudget?
        return outcome(base: base, older: older, newer: newer, budget: &budget)
    }

    /// Merges the texts and returns the work in `budget`; nil if no alignment was necessary.
    static func merge(base: String, older: String, newer: String, budget: inout TextBudget?) -> String {
        outcome(base: base, older: older, newer: newer, budget: &budget).text
    }

    private static func outcome(base: String, older: String, newer: String, budget: inout TextBudget?) -> Outcome {
        if isSame(older, newer) || isSame(base, older) { return Outcome(text: newer) }
        if isSame(base, newer) { return Outcome(text: older) }
        var lines = TextNumbers(capacity: base.utf8.count / 32)
        let base = TextTokens(base, numbers: &lines)
        let olderTokens = TextTokens(older, numbers: &lines)
        let newerTokens = TextTokens(newer, numbers: &lines)
        var spent = TextBudget(tokens: base.count + olderTokens.count + newerTokens.count)
        var numbers = TextNumbers()
        let plan = TextPlan(
            base: base, older: TextSide(base: base, side: olderTokens, numbers: &numbers, budget: &spent),
            newer: TextSide(base: base, side: newerTokens, numbers: &numbers, budget: &spent))
        budget = spent
        let weave = TextWeave(plan: plan)
        return Outcome(
            text: String(decoding: weave.output.bytes, as: UTF8.self), superseded: superseded(weave))
    }

    /// The contests that the older text lost. An insertion whose words are all in the result is not listed.
    private static func superseded(_ weave: TextWeave) -> [Superseded] {
        if weave.contests.isEmpty { return [] }
        var superseded: [Superseded] = []
        var (done, location) = (0, 0)
        let bytes = weave.output.bytes
        for contest in weave.contests.sorted(by: { $0.output.lowerBound < $1.output.lowerBound }) {
            let text = String(decoding: weave.plan[.older].bytes(of: contest.older), as: UTF8.self)
            let result = String(decoding: bytes[contest.output], as: UTF8.self)
            location += String(decoding: bytes[done..<contest.output.lowerBound], as: UTF8.self).utf16.count
            done = contest.output.lowerBound
            if TextWords(of: text).hasMore(than: TextWords(of: result)) {
                superseded.append(Superseded(text: text, location: location, length: result.utf16.count))
            }
        }
        return superseded
    }

    /// Whether two strings have equal bytes. `==` would also accept canonically equivalent strings.
    private static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }
}
