import HesperModel

/// What stands for one ID, to be compared with what it is found by.
struct Found {
    let id: UniqueID
    let entity: Entity?
    let sequence: Int64?
    let dead: InspectedDeletedObject?
}

extension Found {
    /// Members, names of tags and terms, both ways: what is missing, and entries whose object is gone or no longer what
    /// they say.
    func inspect(
        members: [InspectedMember], names: [InspectedTagName], documents: [InspectedDocument], indexed: Int64,
        _ report: (String) -> Void
    ) {
        let held = entity?.heldMembers ?? []
        let found = Set(members.map(\.member))
        for member in held.subtracting(found).sorted() { report("\(id) holds \(member), but is not found by it.") }
        for member in found.subtracting(held).sorted() { report("\(id) is found by \(member), but does not hold it.") }
        let name = entity?.foldedTagName
        if let name, !names.contains(where: { $0.foldedName == name }) {
            report("Tag \(id) is not found by its name.")
        }
        for other in names where other.foldedName != name {
            report("Tag \(id) is found by a name that is not its own.")
        }
        inspectTerms(documents.first, indexed: indexed, report)
    }

    private func inspectTerms(_ document: InspectedDocument?, indexed: Int64, _ report: (String) -> Void) {
        guard case .note(let note)? = entity, let sequence else {
            guard document != nil else { return }
            // The index may be behind a deletion, and nothing else.
            if let deletion = dead?.sequence, entity == nil, deletion > indexed { return }
            return report("\(id) stands in the index of terms, but is no note.")
        }
        guard sequence <= indexed else { return }
        guard let document else { return report("\(id) is missing in the index of terms.") }
        if document.sortDate != note.effectiveSortDate || document.archived != note.archived
            || document.textClock != note.textClock
        {
            report("\(id) stands in the index of terms as it was, not as it is.")
        }
        if !document.hasTerms(note.text) {
            report("\(id) stands in the index of terms with other terms than its text has.")
        }
    }

    /// What is known of the bytes of an attachment.
    func inspect(_ blob: InspectedBlob?, isHeld: Bool, _ report: (String) -> Void) {
        guard let blob else {
            if case .attachment? = entity, sequence != nil {
                report("Attachment \(id) is there, but no bytes of it.")
            }
            return
        }
        switch entity {
        case .attachment(let attachment)? where sequence != nil:
            if attachment[.byteCount] != .integer(blob.data.byteCount)
                || attachment[.sha256] != .string(blob.data.sha256)
            {
                report("Attachment \(id) says that its bytes are others than those that are here.")
            }
        case nil where dead != nil: report("Attachment \(id) is deleted, but its bytes are not.")
        default: break
        }
        if isHeld != blob.isHeld {
            report("Whether a note holds attachment \(id) is not what its bytes are kept for.")
        }
    }
}
