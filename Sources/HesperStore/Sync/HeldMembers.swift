import HesperModel

extension Entity {
    /// The tags and attachments that a note holds according to its registers. The set contains them even if the note does not
    /// exist yet. It is empty for other objects.
    public var heldMembers: Set<UniqueID> {
        guard case .note(let note) = self, note.tags.count + note.attachments.count > 0 else { return [] }
        return Set(note.tags.raw).union(note.attachments.raw)
    }

    /// The attachments that a note holds according to its registers. The set is empty for other objects.
    public var heldAttachments: Set<UniqueID> {
        guard case .note(let note) = self, note.attachments.count > 0 else { return [] }
        return Set(note.attachments.raw)
    }

    /// The folded name of a live tag, which is unique within a scope; nil for other objects and for tags that do not exist.
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
