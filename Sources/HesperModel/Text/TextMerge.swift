/// Merges two texts that were edited from the same base (merge.md, Text).
public enum TextMerge {
    /// Merges two texts that were edited from the same base. `older` is the text that was written earlier according to its clock.
    ///
    /// The insertions of both texts are kept, and the deletions of both are applied. If both replaced the same words within a
    /// line, the replacement of the newer text is used. Graphemes and words are never split. The time is linear in the size of
    /// the texts: parts that would take longer are compared less exactly.
    public static func merge(base: String, older: String, newer: String) -> String {
        outcome(base: base, older: older, newer: newer).text
    }

    /// The texts to merge. `older` and `newer` were both edited from `base`; `older` was written earlier according to its clock.
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
        /// The words of the older text that the merged text lacks. Each entry also has the location, in the merged text, of the
        /// words that replaced them. The entries are ordered by this location.
        public var superseded: [Superseded] = []
    }

    /// Words of the older text that the merged text lacks, and the location of the words that replaced them.
    ///
    /// To restore the words, replace `length` UTF-16 code units at `location` of the merged text with `text`.
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

    /// Merges the texts. Afterwards `budget` contains the work that was done; nil if the texts did not need to be compared.
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

    /// The replacements in the older text that were not used because the newer text replaced the same words. A replacement of the
    /// older text is left out if all of its words are also in the replacement of the newer text.
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

    /// Whether two strings have equal bytes. Swift's `==` would also accept canonically equivalent strings.
    private static func isSame(_ one: String, _ other: String) -> Bool { one.isIdentical(to: other) }
}
