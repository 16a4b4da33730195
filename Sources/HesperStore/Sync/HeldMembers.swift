import HesperModel

extension Entity {
    /// The tags and attachments that a note's own registers say it holds, also while it waits.
    public var heldMembers: Set<UniqueID> {
        guard case .note(let note) = self, note.tags.count + note.attachments.count > 0 else { return [] }
        return Set(note.tags.raw).union(note.attachments.raw)
    }

    /// The attachments among them.
    public var heldAttachments: Set<UniqueID> {
        guard case .note(let note) = self, note.attachments.count > 0 else { return [] }
        return Set(note.attachments.raw)
    }

    /// The name under which a live tag is unique; nil for everything else.
    public var foldedTagName: String? {
        if case .tag(let tag) = self, tag.exists { TagName.fold(tag.name) } else { nil }
    }
}

extension StateChange {
    /// What is there afterwards, if it is a live or waiting object.
    public var entityAfter: Entity? { if case .entity(let entity) = after { entity } else { nil } }
}

extension Note {
    /// What notes are listed by, the newest first.
    public var effectiveSortDate: Timestamp { sortDate ?? creationDate ?? Timestamp(clamping: 0) }
}
