extension Entity {
    /// The tags and attachments that an object holds according to its registers: those of a note, and the files of an app's own
    /// object. The set contains them even if the object does not exist yet.
    public var heldMembers: Set<UniqueID> {
        guard case .note(let note) = self, note.tags.count > 0 else { return heldAttachments }
        return heldAttachments.union(note.tags.raw)
    }

    /// The attachments that an object holds according to its registers.
    public var heldAttachments: Set<UniqueID> {
        switch self {
        case .note(let note): note.attachments.count > 0 ? Set(note.attachments.raw) : []
        case .object(let object):
            Set(object.files.registers.compactMap { Attribute.file($0.key).heldAttachment($0.value.value) })
        case .tag, .attachment: []
        }
    }
}
