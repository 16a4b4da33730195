/// When a note is deleted, rescues the words that the deleting device had not seen, by creating a new note (merge.md,
/// Deleting).
struct MergeRescues {
    /// The notes to rescue: for each, its state before the deletion, and the index of its deletion in the push.
    private var notes: [(element: Int, note: Note)] = []

    /// The maximum number of texts that count as seen because the deleting device wrote them. If it wrote more texts of the note,
    /// the newest count.
    private static let ownTexts = 16

    /// Adds a note to the notes to rescue, if it contains words that the deleting device had not seen.
    mutating func add(_ note: Note, _ deletion: Deletion, _ element: Int, in draft: ScopeDraft) throws {
        if try isUnseen(note, by: deletion, in: draft) { notes.append((element, note)) }
    }

    private func isUnseen(_ note: Note, by deletion: Deletion, in draft: ScopeDraft) throws -> Bool {
        guard let seen = deletion.textSeen, let current = note.textClock, seen != .version(current) else {
            return false
        }
        let words = TextWords(of: note.text)
        guard !words.isEmpty else { return false }
        var known: [TextWords] = []
        if case .version(let clock) = seen {
            guard let text = try draft.text(clock, of: note.uniqueID) else { return true }
            known.append(TextWords(of: text))
            guard words.hasWords(beyond: known) else { return false }
        }
        for clock in try deletion.textAfter + ownTexts(of: note.uniqueID, upTo: current, in: draft) {
            guard let text = try draft.text(clock, of: note.uniqueID) else { continue }
            known.append(TextWords(of: text))
            guard words.hasWords(beyond: known) else { return false }
        }
        return true
    }

    /// The clocks of the newest texts of a note that the pushing device wrote.
    private func ownTexts(of id: UniqueID, upTo current: Clock, in draft: ScopeDraft) throws -> [Clock] {
        guard let sender = draft.context.sender, draft.wasKnown(id) else { return [] }
        var clocks = current.node == sender ? [current] : []
        while clocks.count < MergeRescues.ownTexts,
            let clock = try draft.bag.newestText(of: id, by: sender, before: clocks.last ?? current)
        {
            clocks.append(clock)
        }
        return clocks
    }

    /// Creates the new notes. Must be called after everything else in the push was applied, so that an attachment that the push
    /// moved from the deleted note to another note stays in the other note.
    /// - Returns: the IDs of the new notes, by the index of the deletion in the push.
    func make(in draft: inout ScopeDraft, _ texts: inout MergeTexts) throws -> [Int: UniqueID] {
        var made: [Int: UniqueID] = [:]
        for (element, note) in notes {
            guard case .deleted(var deleted)? = draft.state(note.uniqueID) else { continue }
            let id = note.uniqueID.rescue
            try draft.load([id])
            switch draft.state(id) {
            case nil: try make(id, from: note, in: &draft)
            case .entity(let entity)?: try add(note, to: entity, in: &draft, &texts)
            // An earlier rescue created the new note, and the new note was deleted later. It is not created again.
            case .deleted?: continue
            }
            _ = deleted.fold(
                DeletedObject(
                    uniqueID: deleted.uniqueID, objectType: deleted.objectType, rescuedInto: id,
                    deletionDate: deleted.deletionDate))
            draft.set(deleted.uniqueID, .deleted(deleted))
            made[element] = id
        }
        return made
    }

    /// Creates a note with the text, the tags and the attachments of another note. The edits keep their clocks. An attachment is
    /// left out if another live note has it.
    private func make(_ id: UniqueID, from note: Note, in draft: inout ScopeDraft) throws {
        var edits: [Edit] = []
        if let date = note.creationDate { edits.append(Edit(.creationDate, .date(date), at: nil)) }
        if let clock = note.textClock { edits.append(Edit(.text, .string(note.text), at: clock)) }
        // Removed tags are copied too, with their clocks. If a removed tag is later merged with a tag that the note has, the
        // greater of the two clocks decides whether the note has the merged tag.
        for (tag, register) in note.tags.sorted {
            edits.append(Edit(.tag(tag), .bool(register.value), at: register.clock))
        }
        let attachments = note.attachments.sorted.filter(\.register.value)
        try draft.load(attachments.map(\.id))
        for (attachment, register) in attachments {
            guard case .entity? = draft.state(attachment), try draft.isFree(attachment) else { continue }
            edits.append(Edit(.attachment(attachment), .bool(true), at: register.clock))
        }
        var entity = Section.notes.empty(id)
        for edit in edits { entity.fold(edit) }
        draft.add(
            Parcel(
                object: id, objectType: .note, edits: edits, textOrigin: try draft.textOrigin(of: note),
                isServerMade: true, isRescue: true))
        draft.set(id, .entity(entity))
    }

    /// Adds the text of the deleted note to a new note that already exists. It exists if a device resent it to a restored server
    /// before this deletion was applied.
    private func add(
        _ note: Note, to entity: Entity, in draft: inout ScopeDraft, _ texts: inout MergeTexts
    ) throws {
        guard let clock = note.textClock, try draft.find(.text, clock, of: entity.uniqueID) == nil else { return }
        var entity = entity
        let parcel = draft.add(
            Parcel(object: entity.uniqueID, objectType: .note, edits: [], isServerMade: true, isRescue: true))
        let text = MergeTexts.Incoming(clock: clock, text: note.text, after: [])
        try texts.merge(text, into: &entity, parcel: parcel, in: &draft)
        draft.set(entity.uniqueID, .entity(entity))
    }
}

extension ScopeDraft {
    fileprivate func textOrigin(of note: Note) throws -> Clock? {
        guard let clock = note.textClock, clock.node == context.server else { return nil }
        return try find(.text, clock, of: note.uniqueID)?.parcel.textOrigin
    }

    /// Whether no live note has the attachment.
    fileprivate func isFree(_ attachment: UniqueID) throws -> Bool {
        for id in touched {
            if case .entity(.note(let note))? = state(id), note.attachments[attachment]?.value == true { return false }
        }
        return try untouchedHolders(of: attachment).isEmpty
    }
}

extension UniqueID {
    /// The ID of the new note that receives the unseen words of a note when that note is deleted: the version 5 UUID of the
    /// empty name in the namespace of the deleted note's ID.
    public var rescue: UniqueID { UniqueID.derived(from: "", in: self) }
}
