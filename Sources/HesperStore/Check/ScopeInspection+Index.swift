import HesperModel

/// The object or DeletedObject with a given ID, to be compared with the index entries for this ID.
struct InspectedState {
    let id: UniqueID
    let entity: Entity?
    let sequence: Int64?
    let deleted: InspectedDeletedObject?
}

extension InspectedState {
    /// Checks the index entries for members, tag names and terms. Reports missing and outdated entries.
    func inspect(
        members: [InspectedMember], names: [InspectedTagName], documents: [InspectedDocument], indexed: Int64,
        _ report: (String) -> Void
    ) {
        let held = entity?.heldMembers ?? []
        let indexedMembers = Set(members.map(\.member))
        for member in held.subtracting(indexedMembers).sorted() {
            report("\(id) holds \(member), but the index of members has no entry for it.")
        }
        for member in indexedMembers.subtracting(held).sorted() {
            report("\(id) does not hold \(member), but the index of members has an entry for it.")
        }
        let name = entity?.foldedTagName
        if let name, !names.contains(where: { $0.foldedName == name }) {
            report("The index of tag names has no entry for tag \(id).")
        }
        for other in names where other.foldedName != name {
            report("The index of tag names has a wrong name for tag \(id).")
        }
        inspectTerms(documents.first, indexed: indexed, report)
    }

    private func inspectTerms(_ document: InspectedDocument?, indexed: Int64, _ report: (String) -> Void) {
        guard case .note(let note)? = entity, let sequence else {
            guard document != nil else { return }
            // The index is updated after the commit. If it does not include the deletion of the note yet, it still has an entry for
            // the note. This is not an inconsistency.
            if let deletion = deleted?.sequence, entity == nil, deletion > indexed { return }
            return report("\(id) is in the index of terms, but is not a note.")
        }
        guard sequence <= indexed else { return }
        guard let document else { return report("\(id) is missing from the index of terms.") }
        if document.sortDate != note.effectiveSortDate || document.archived != note.archived
            || document.textClock != note.textClock
        {
            report("\(id) is outdated in the index of terms.")
        }
        if !document.hasTerms(note.text) {
            report("The terms of \(id) in the index of terms differ from those of its text.")
        }
    }

    /// Checks the row that describes the bytes of an attachment.
    /// - Parameter isHeld: whether an object holds the attachment.
    func inspect(_ blob: InspectedBlob?, isHeld: Bool, _ report: (String) -> Void) {
        guard let blob else {
            if case .attachment? = entity, sequence != nil {
                report("Attachment \(id) exists, but its bytes are not recorded.")
            }
            return
        }
        switch entity {
        case .attachment(let attachment)? where sequence != nil:
            if attachment[.byteCount] != .integer(blob.data.byteCount)
                || attachment[.sha256] != .string(blob.data.sha256)
            {
                report("The size or digest of attachment \(id) differs from that of its recorded bytes.")
            }
        case nil where deleted != nil: report("Attachment \(id) is deleted, but its bytes are not.")
        default: break
        }
        if isHeld != blob.isHeld {
            report(
                isHeld
                    ? "An object holds attachment \(id), but the database records that none does."
                    : "No object holds attachment \(id), but the database records that one does.")
        }
    }
}
