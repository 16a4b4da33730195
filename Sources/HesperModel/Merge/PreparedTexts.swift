/// Text merges that are computed before a push is applied, because the scope would be locked for too long otherwise.
///
/// Merging large texts takes far longer than the rest of a push. ``Merge/apply(_:to:in:)`` itself merges only small texts (see
/// ``Merge/Bounds/textBytes``). It lists the other merges in ``MergeOutcome/pendingMerges``. The caller computes those merges,
/// adds their outcomes here and applies the push again. A merge depends only on its three texts, so an outcome remains valid as
/// long as the three texts are the same.
public struct PreparedTexts: Sendable {
    /// A merge that is needed for a pushed text.
    public struct PendingMerge: Sendable {
        /// The object and the clock of the pushed text.
        let text: LostText
        public let input: TextMerge.Input
    }

    private var merges: [LostText: (input: TextMerge.Input, outcome: TextMerge.Outcome)] = [:]

    public init() {}

    /// Stores the outcome of a merge.
    public mutating func add(_ merge: PendingMerge, _ outcome: TextMerge.Outcome) {
        merges[merge.text] = (merge.input, outcome)
    }

    /// The outcome of a merge; nil if it was not prepared or its texts have changed.
    func outcome(of merge: PendingMerge) -> TextMerge.Outcome? {
        guard let prepared = merges[merge.text], prepared.input.isIdentical(to: merge.input) else { return nil }
        return prepared.outcome
    }
}
