import HesperModel

extension Entity {
    /// The case-folded name of a live tag, which is unique within a scope; nil for other objects and for tags that do not exist.
    public var foldedTagName: String? {
        if case .tag(let tag) = self, tag.exists { TagName.fold(tag.name) } else { nil }
    }
}

extension StateChange {
    /// The object after the change; nil if the change deleted it.
    public var entityAfter: Entity? { if case .entity(let entity) = after { entity } else { nil } }
}

extension Note {
    /// The date by which notes are sorted in descending order.
    public var effectiveSortDate: Timestamp { sortDate ?? creationDate ?? Timestamp(clamping: 0) }
}
