/// Merges of texts that were made before a push is merged, so that those do not keep the scope locked.
///
/// Merging texts takes far longer than everything else that a merge does. ``Merge/apply(_:to:in:)`` merges some itself
/// (``Merge/Bounds/textBytes``) and lists the others (``MergeOutcome/pendingMerges``); its caller merges those, adds the outcomes here
/// and applies the push again. The merge of three texts depends on nothing else: an outcome holds as long as the texts are the same.
public struct PreparedTexts: Sendable {
    /// The merge that a pushed text needs.
    public struct Need: Sendable {
        /// The pushed text.
        let text: LostText
        public let input: TextMerge.Input
    }

    private var merges: [LostText: (input: TextMerge.Input, outcome: TextMerge.Outcome)] = [:]

    public init() {}

    /// Keeps the outcome of a merge.
    public mutating func add(_ need: Need, _ outcome: TextMerge.Outcome) { merges[need.text] = (need.input, outcome) }

    /// Nil if the merge was not prepared, or with other texts.
    func outcome(of need: Need) -> TextMerge.Outcome? {
        guard let merge = merges[need.text], merge.input.isIdentical(to: need.input) else { return nil }
        return merge.outcome
    }
}
