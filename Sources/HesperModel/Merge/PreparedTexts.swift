/// Text merges that were computed before a push is applied, so that the scope is not locked meanwhile.
///
/// Merging texts takes far longer than the rest of a push. ``Merge/apply(_:to:in:)`` merges only small texts itself
/// (``Merge/Bounds/textBytes``) and lists the others (``MergeOutcome/pendingMerges``). The caller computes those, adds the
/// outcomes here and applies the push again. A merge depends only on its three texts, so an outcome remains valid as long as they
/// are the same.
public struct PreparedTexts: Sendable {
    /// A merge that a pushed text needs.
    public struct PendingMerge: Sendable {
        /// The pushed text.
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
