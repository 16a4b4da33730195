/// The texts that a pushed text descends from, as the client states them (merge.md, Descent).
public struct TextAncestry: Sendable, Equatable {
    /// The clock of the text from which the pushed text was edited. If a device resends the pushed text to a restored server, this
    /// is the clock of the pushed text itself.
    public var base: Clock?
    /// The text whose clock is ``base``, if the client sends it.
    public var baseValue: String?
    /// The clocks of other texts from which the pushed text descends: texts that the sender wrote and for which it has not
    /// received a receipt yet, in the order of writing. Nil if the client does not send this field.
    public var after: [Clock]?

    public init(base: Clock? = nil, baseValue: String? = nil, after: [Clock]? = nil) {
        self.base = base
        self.baseValue = baseValue
        self.after = after
    }
}

extension Entity {
    /// The ancestry of each text that `edits` set. The base of a text is the current text of its attribute in this object.
    /// - Parameters:
    ///   - edits: the edits to push. Edits of attributes that are not texts have no ancestry.
    ///   - after: see ``TextAncestry/after``.
    public func ancestries(of edits: [Edit], after: [Clock]? = nil) -> [Attribute: TextAncestry] {
        var ancestries: [Attribute: TextAncestry] = [:]
        for edit in edits where edit.attribute.isText {
            ancestries[edit.attribute] = TextAncestry(base: register(edit.attribute)?.clock, after: after)
        }
        return ancestries
    }
}
