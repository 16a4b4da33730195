extension Entity {
    /// The IDs of the tags and attachments that an object holds according to its registers. A note holds tags and attachments, and
    /// an app's own object holds attachments as files. The registers are read even if the object itself does not exist yet.
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
