/// When a note or an app's own object is deleted, rescues the words that the deleting device had not seen, by creating a new
/// object (merge.md, Deleting).
struct MergeRescues {
    /// The objects to rescue: for each, its state before the deletion, the index of its deletion in the push, its type, and the
    /// texts that have unseen words.
    private var rescues: [(element: Int, entity: Entity, type: ObjectType, texts: [Attribute])] = []

    /// The maximum number of versions of a text that count as seen because the deleting device wrote them. If it wrote more,
    /// only the newest versions count as seen.
    private static let ownTexts = 16

    /// Adds an object to the objects to rescue, if it has texts with words that the deleting device had not seen.
    mutating func add(_ entity: Entity, _ deletion: Deletion, _ element: Int, in draft: ScopeDraft) throws {
        guard let seen = deletion.seenTexts else { return }
        let texts = try entity.texts.filter { try isUnseen($0, of: entity, by: deletion, seen[$0], in: draft) }
        if !texts.isEmpty { rescues.append((element, entity, deletion.objectType, texts)) }
    }

    private func isUnseen(
        _ attribute: Attribute, of entity: Entity, by deletion: Deletion, _ seen: Clock?, in draft: ScopeDraft
    ) throws -> Bool {
        guard let register = entity.register(attribute), case .string(let current) = register.value,
            seen != register.clock
        else { return false }
        let words = TextWords(of: current)
        guard !words.isEmpty else { return false }
        let id = entity.uniqueID
        var known: [TextWords] = []
        if let seen {
            guard let text = try draft.text(attribute, seen, of: id) else { return true }
            known.append(TextWords(of: text))
            guard words.hasWords(beyond: known) else { return false }
        }
        let own = try ownTexts(attribute, of: id, upTo: register.clock, in: draft)
        for clock in deletion.textsAfter[attribute, default: []] + own {
            guard let text = try draft.text(attribute, clock, of: id) else { continue }
            known.append(TextWords(of: text))
            guard words.hasWords(beyond: known) else { return false }
        }
        return true
    }

    /// The clocks of the versions of a text that the pushing device wrote, the newest first. At most `MergeRescues.ownTexts` clocks
    /// are returned.
    private func ownTexts(
        _ attribute: Attribute, of id: UniqueID, upTo current: Clock, in draft: ScopeDraft
    ) throws -> [Clock] {
        guard let sender = draft.context.sender, draft.wasKnown(id) else { return [] }
        var clocks = current.node == sender ? [current] : []
        while clocks.count < MergeRescues.ownTexts,
            let clock = try draft.bag.newest(attribute, of: id, by: sender, before: clocks.last ?? current)
        {
            clocks.append(clock)
        }
        return clocks
    }

    /// Creates the new objects. Must be called after everything else in the push was applied, so that an attachment that the push
    /// moved from the deleted note to another note stays in the other note.
    /// - Returns: the IDs of the new objects, by the index of the deletion in the push.
    func make(in draft: inout ScopeDraft, _ texts: inout MergeTexts) throws -> [Int: UniqueID] {
        var made: [Int: UniqueID] = [:]
        for (element, original, type, unseen) in rescues {
            guard case .deleted(var deleted)? = draft.state(original.uniqueID) else { continue }
            let id = original.uniqueID.rescue
            try draft.load([id])
            switch draft.state(id) {
            case nil:
                switch original {
                case .note(let note): try make(id, from: note, in: &draft)
                case .object, .tag, .attachment: try make(id, type, from: original, unseen, in: &draft)
                }
            case .entity(let entity)? where entity.section == original.section:
                try add(unseen, of: original, to: entity, in: &draft, &texts)
            // The ID belongs to an object of another type, which cannot have the texts.
            case .entity?: continue
            // An earlier rescue created the new object, and the new object was deleted later. It is not created again.
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

    /// Creates a note with the text, the tags and the attachments of the deleted note. The edits keep their clocks. An attachment
    /// is left out if another live object has it.
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
                object: id, objectType: .note, edits: edits,
                textOrigin: try note.textClock.flatMap { try draft.textOrigin(.text, $0, of: note.uniqueID) },
                isServerMade: true, isRescue: true))
        draft.set(id, .entity(entity))
    }

    /// Creates an object with the type of the deleted app object. The new object gets the texts of the deleted object, except texts
    /// without unseen words. The edits keep their clocks.
    private func make(
        _ id: UniqueID, _ type: ObjectType, from original: Entity, _ texts: [Attribute], in draft: inout ScopeDraft
    ) throws {
        var entity = original.section.empty(id)
        var edits = [Edit(.objectType, .string(type.name), at: nil)]
        for attribute in texts {
            guard let register = original.register(attribute) else { continue }
            edits.append(Edit(attribute, register.value, at: register.clock))
            for edit in edits { entity.fold(edit) }
            draft.add(
                Parcel(
                    object: id, objectType: type, edits: edits,
                    textOrigin: try draft.textOrigin(attribute, register.clock, of: original.uniqueID),
                    isServerMade: true, isRescue: true))
            edits = []
        }
        draft.set(id, .entity(entity))
    }

    /// Adds texts of the deleted object to the object into which they are rescued. That object already exists if a device resent it
    /// to a restored server before this deletion was applied.
    private func add(
        _ attributes: [Attribute], of original: Entity, to entity: Entity, in draft: inout ScopeDraft,
        _ texts: inout MergeTexts
    ) throws {
        var entity = entity
        for attribute in attributes {
            guard let register = original.register(attribute), case .string(let value) = register.value,
                try draft.find(attribute, register.clock, of: entity.uniqueID) == nil
            else { continue }
            let parcel = draft.add(
                Parcel(
                    object: entity.uniqueID, objectType: entity.objectType, edits: [], isServerMade: true,
                    isRescue: true))
            let text = MergeTexts.Incoming(
                attribute: attribute, clock: register.clock, text: value, ancestry: TextAncestry(after: []))
            try texts.merge(text, into: &entity, parcel: parcel, in: &draft)
            draft.set(entity.uniqueID, .entity(entity))
        }
    }
}

extension Entity {
    /// The texts of the object, as attributes. A text that was never set is not included.
    fileprivate var texts: [Attribute] {
        switch self {
        case .note(let note): note.textClock == nil ? [] : [.text]
        case .object(let object): object.texts.sorted.map { .namedText($0.name) }
        case .tag, .attachment: []
        }
    }
}

extension ScopeDraft {
    fileprivate func textOrigin(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> Clock? {
        guard clock.node == context.server else { return nil }
        return try find(attribute, clock, of: id)?.parcel.textOrigin
    }

    /// Whether no live object has the attachment.
    fileprivate func isFree(_ attachment: UniqueID) throws -> Bool {
        for id in touched {
            if case .entity(let entity)? = state(id), entity.heldAttachments.contains(attachment) { return false }
        }
        return try untouchedHolders(of: attachment).isEmpty
    }
}

extension UniqueID {
    /// When the object with this ID is deleted, its unseen words are kept in a new object. This is the ID of the new object. It is
    /// the version 5 UUID of the empty name in the namespace of the deleted object's ID.
    public var rescue: UniqueID { UniqueID.derived(from: "", in: self) }
}
