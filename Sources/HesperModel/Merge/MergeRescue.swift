/// Words that the deletion of a note had not seen go into a new note (merge.md, Deleting).
extension Merge {
    /// A note as it was when a deletion of the push took it.
    struct Rescue {
        /// Where the deletion stands in the push.
        let element: Int
        let note: Note
    }

    /// Own texts of the deleter that are looked at, the newest first.
    private static let ownTexts = 16

    /// Whether a note holds words that its deleter never saw.
    func isUnseen(_ note: Note, by deletion: Deletion) throws -> Bool {
        guard let seen = deletion.textSeen, let standing = note.textClock, seen != .version(standing) else {
            return false
        }
        let words = TextWords(of: note.text)
        guard !words.isEmpty else { return false }
        var known: [TextWords] = []
        if case .version(let clock) = seen {
            guard let text = try text(clock, of: note.uniqueID) else { return true }
            known.append(TextWords(of: text))
            guard words.hasWords(beyond: known) else { return false }
        }
        for clock in try deletion.textAfter + ownTexts(of: note.uniqueID, upTo: standing) {
            guard let text = try text(clock, of: note.uniqueID) else { continue }
            known.append(TextWords(of: text))
            guard words.hasWords(beyond: known) else { return false }
        }
        return true
    }

    private func text(_ clock: Clock, of id: UniqueID) throws -> String? {
        if case .string(let text)? = try find(.text, clock, of: id)?.edit.value { text } else { nil }
    }

    /// The clocks of the newest texts of a note by the device that pushes.
    private func ownTexts(of id: UniqueID, upTo standing: Clock) throws -> [Clock] {
        guard let sender = context.sender, before[id] != nil else { return [] }
        var clocks = standing.node == sender ? [standing] : []
        while clocks.count < Merge.ownTexts,
            let clock = try bag.newestText(of: id, by: sender, before: clocks.last ?? standing)
        {
            clocks.append(clock)
        }
        return clocks
    }

    /// Makes the new notes, once all else of the push has been taken in: a picture that was moved in it stays moved.
    mutating func makeRescues() throws {
        for rescue in rescues {
            guard case .deleted(var deleted)? = state(rescue.note.uniqueID) else { continue }
            let id = rescue.note.uniqueID.rescue
            try load([id])
            switch state(id) {
            case nil: try make(id, from: rescue.note)
            case .entity(let entity)?: try add(rescue.note, to: entity)
            // Somebody has read and deleted what was rescued.
            case .deleted?: continue
            }
            _ = deleted.fold(
                DeletedObject(
                    uniqueID: deleted.uniqueID, objectType: deleted.objectType, rescuedInto: id,
                    deletionDate: deleted.deletionDate))
            set(deleted.uniqueID, .deleted(deleted))
            notes[rescue.element]?.rescue = id
        }
    }

    /// A new note with the text, the tags and the free attachments of another, under the clocks that they had there.
    private mutating func make(_ id: UniqueID, from note: Note) throws {
        var edits: [Edit] = []
        if let date = note.creationDate { edits.append(Edit(.creationDate, .date(date), at: nil)) }
        if let clock = note.textClock { edits.append(Edit(.text, .string(note.text), at: clock)) }
        // Those taken out as well: of two tags that turn out to be one, the greater clock decides.
        for (tag, register) in note.tags.sorted {
            edits.append(Edit(.tag(tag), .bool(register.value), at: register.clock))
        }
        let attachments = note.attachments.sorted.filter(\.register.value)
        try load(attachments.map(\.id))
        for (attachment, register) in attachments {
            guard case .entity? = state(attachment), try isFree(attachment) else { continue }
            edits.append(Edit(.attachment(attachment), .bool(true), at: register.clock))
        }
        var entity = Section.notes.empty(id)
        for edit in edits { entity.fold(edit) }
        add(
            Parcel(
                object: id, objectType: .note, edits: edits, textOrigin: try textOrigin(of: note), isServers: true,
                isRescue: true))
        set(id, .entity(entity))
    }

    /// A note of this ID is there already: a device gave it back to a restored server. The words go into its history.
    private mutating func add(_ note: Note, to entity: Entity) throws {
        guard let clock = note.textClock, try find(.text, clock, of: entity.uniqueID) == nil else { return }
        var entity = entity
        let parcel = add(
            Parcel(object: entity.uniqueID, objectType: .note, edits: [], isServers: true, isRescue: true))
        try mergeText(IncomingText(clock: clock, text: note.text, after: []), into: &entity, parcel: parcel)
        set(entity.uniqueID, .entity(entity))
    }

    private func textOrigin(of note: Note) throws -> Clock? {
        guard let clock = note.textClock, clock.node == context.server else { return nil }
        return try find(.text, clock, of: note.uniqueID)?.parcel.textOrigin
    }

    /// Whether no live note holds an attachment.
    private func isFree(_ attachment: UniqueID) throws -> Bool {
        for case .entity(.note(let note)) in states.values where note.attachments[attachment]?.value == true {
            return false
        }
        // Of notes that this push touches, what they hold now counts.
        return try bag.holders(of: attachment).allSatisfy { states[$0] != nil }
    }
}

extension UniqueID {
    /// The ID of the note into which words go that the deletion of this note had not seen: a UUID of version 5 in the namespace of
    /// this ID, of the empty name.
    public var rescue: UniqueID { UniqueID.derived(from: "", in: self) }
}
