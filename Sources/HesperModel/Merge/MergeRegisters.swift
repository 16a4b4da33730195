/// Registers and new objects of a push.
extension Merge {
    mutating func change(_ change: Change, _ index: Int) throws {
        let id = change.uniqueID
        var remembered = ElementNotes(refused: change.refused)
        defer { notes[index] = remembered }

        var entity: Entity
        switch state(id) {
        case .entity(let standing)?: entity = standing
        case .deleted?, nil: entity = change.section.empty(id)
        }
        guard entity.section == change.section else {
            remembered.problem = wrongType(entity.objectType, id, at: "\(change.pointer)/uniqueID")
            return
        }
        // A deleted object's edits go into the bag all the same, for "Recently deleted", and are folded into nothing.
        var isDeleted = false
        if case .deleted? = state(id) { isDeleted = true }
        var edits = change.edits
        if change.section == .attachments, !isDeleted, let problem = try addData(to: &edits, of: entity, change) {
            remembered.problem = problem
            return
        }
        if let problem = try overQuota(edits, of: entity, change) {
            remembered.problem = problem
            return
        }
        let parcelCount = parcels.count
        defer { countBytes(ofParcelsFrom: parcelCount) }
        let parcel = add(Parcel(object: id, objectType: entity.objectType ?? type(change), edits: []))
        remembered.parcel = parcel

        for edit in edits {
            let field = edit.attribute.description
            let pointer = place(of: edit.attribute, in: change)
            guard let clock = edit.clock else {
                if let problem = immutable(edit, in: entity, at: pointer) {
                    remembered.refused[field] = problem
                } else {
                    let isKnown = !entity.fold(edit)
                    remembered.edits.append((edit, isKnown))
                    if !isKnown { parcels[parcel].edits.append(edit) }
                }
                continue
            }
            switch try known(edit, clock, of: id, standing: entity.register(edit.attribute)) {
            case .same:
                remembered.edits.append((edit, true))
                continue
            case .another:
                remembered.refused[field] = Problem(
                    .clockReused,
                    "The clock of \(field) was already used for another value: two copies of one device exist. Stamp again and sign in for a new node.",
                    at: pointer)
                continue
            case .unknown: break
            }
            let problem =
                revoked(clock, field: field, pointer: pointer) ?? ahead(clock, field: field, pointer: pointer)
                ?? full(edit, in: entity, at: pointer)
            if let problem {
                remembered.refused[field] = problem
                continue
            }
            if edit.attribute == .text, !isDeleted {
                try mergeText(change.text(edit, at: clock), into: &entity, parcel: parcel)
            } else {
                parcels[parcel].edits.append(edit)
                entity.fold(edit)
            }
            remembered.edits.append((edit, false))
        }
        if isDeleted, parcels[parcel].edits.allSatisfy({ $0.clock == nil }) {
            // What is set once has no clock to know it by: without a new register this is a push sent again.
            parcels[parcel].edits = []
        }
        if !isDeleted, !parcels[parcel].edits.isEmpty || state(id) != nil { set(id, .entity(entity)) }
    }

    private func type(_ change: Change) -> ObjectType? {
        for edit in change.edits where edit.attribute == .objectType {
            if case .string(let name)? = edit.value { return ObjectType(name) }
        }
        return change.section.objectType
    }

    /// Where an attribute stands in the request.
    private func place(of attribute: Attribute, in change: Change) -> String {
        switch attribute {
        case .tag(let id): "\(change.pointer)/clocks/tags/\(id)"
        case .attachment(let id): "\(change.pointer)/clocks/attachments/\(id)"
        case .custom(let name): "\(change.pointer)/attributes/\(name)"
        case .field(let field): "\(change.pointer)/\(field.rawValue)"
        }
    }

    // MARK: Known keys

    enum Known {
        case unknown
        /// The bag has it, with this value (or with a value that was thinned away).
        case same
        /// The bag has it with another value.
        case another
    }

    /// Looks for an edit's key in the bag and among what this push has added.
    func known(
        _ edit: Edit, _ clock: Clock, of id: UniqueID, standing: Register<Value>?
    ) throws -> Known {
        // The standing clock is the greatest in the bag, so only lesser ones need to be looked for. An attribute that was
        // never set has no edits; those of a deleted object are in the bag alone.
        if let standing {
            if clock > standing.clock { return .unknown }
            if clock == standing.clock { return edit.value == standing.value ? .same : .another }
        } else {
            guard case .deleted? = state(id) else { return .unknown }
        }
        guard let found = try find(edit.attribute, clock, of: id) else { return .unknown }
        return found.edit.value == nil || found.edit.value == edit.value ? .same : .another
    }

    /// The edit with this key, and the parcel that it came in.
    func find(_ attribute: Attribute, _ clock: Clock, of id: UniqueID) throws -> (edit: Edit, parcel: Parcel)? {
        for parcel in added(to: id) + (before[id] == nil ? [] : try bag.parcels(of: id, holding: clock)) {
            if let edit = parcel.edits.first(where: { $0.attribute == attribute && $0.clock == clock }) {
                return (edit, parcel)
            }
        }
        return nil
    }

    // MARK: Refusals

    /// Why what is set once cannot be set to this; nil if it can, or is this already.
    private func immutable(_ edit: Edit, in entity: Entity, at pointer: String) -> Problem? {
        guard case .field(let field) = edit.attribute, let standing = entity.content[field], standing != edit.value
        else {
            return nil
        }
        switch field.rule {
        case .register, .earliest: return nil
        case .once:
            return Problem(.immutable, "An attachment does not change: \(field.rawValue) stands.", at: pointer)
        case .type:
            let type = entity.objectType?.name ?? "object"
            return Problem(.immutable, "This object is a \(type); its type does not change.", at: pointer)
        }
    }

    /// Why an object has no place for one more attribute or member; nil if it has.
    private func full(_ edit: Edit, in entity: Entity, at pointer: String) -> Problem? {
        guard entity.register(edit.attribute) == nil else { return nil }
        let content = entity.content
        let (count, limit, what): (Int, Int, String)
        switch edit.attribute {
        case .field: return nil
        case .tag: (count, limit, what) = (content.tags.count, Limits.members, "tags, those taken out included")
        case .attachment:
            (count, limit, what) = (content.attachments.count, Limits.members, "attachments, those taken out included")
        case .custom:
            (count, what) = (content.attributes.count, "attributes")
            limit = entity.section == .objects ? Limits.objectAttributes : Limits.attributes
        }
        guard count >= limit else { return nil }
        return Problem(
            .invalidField, "It has \(limit) \(what) already, the most it can have.", at: pointer,
            context: ["limit": .integer(Int64(limit))])
    }

    // MARK: Attachments

    /// Adds what the server knows of an attachment's bytes to what a push says of it.
    /// - Returns: why there can be no such attachment, if there cannot.
    private func addData(to edits: inout [Edit], of entity: Entity, _ change: Change) throws -> Problem? {
        guard !entity.exists else { return nil }
        guard let data = try bag.attachmentData(of: change.uniqueID) else {
            return Problem(
                .attachmentDataMissing, "The bytes of attachment \(change.uniqueID) are not here: they come first.",
                at: change.pointer)
        }
        let facts = [Edit(.byteCount, .integer(data.byteCount), at: nil), Edit(.sha256, .string(data.sha256), at: nil)]
        for fact in facts {
            if let sent = edits.first(where: { $0.attribute == fact.attribute }), sent.value != fact.value {
                return Problem(
                    .immutable, "The bytes that are here have another \(fact.attribute.description).",
                    at: "\(change.pointer)/\(fact.attribute.description)")
            }
        }
        edits.removeAll { $0.attribute == .byteCount || $0.attribute == .sha256 }
        edits += facts
        return nil
    }

    /// One note per attachment: a member that another live note holds is refused, that member alone.
    mutating func checkHolders(_ push: Push) throws {
        // Of notes that this push touches, what they hold now counts, of all others what the bag says.
        var holders: [UniqueID: Set<UniqueID>] = [:]
        for id in touched {
            guard case .entity(.note(let note))? = states[id] else { continue }
            for (member, register) in note.attachments.registers where register.value {
                holders[member, default: []].insert(id)
            }
        }
        for (index, element) in push.elements.enumerated() {
            guard case .change(let change) = element, change.section == .notes, var remembered = notes[index] else {
                continue
            }
            let note = change.uniqueID
            for (edit, isKnown) in remembered.edits where !isKnown && edit.value == .bool(true) {
                guard case .attachment(let member) = edit.attribute, holders[member]?.contains(note) == true else {
                    continue
                }
                let others = try bag.holders(of: member).filter { states[$0] == nil } + (holders[member] ?? [])
                guard let other = others.filter({ $0 != note }).min() else { continue }
                remembered.refused[edit.attribute.description] = Problem(
                    .attachmentInUse, "Attachment \(member) belongs to note \(other).",
                    at: place(of: edit.attribute, in: change))
                remembered.edits.removeAll { $0.edit == edit }
                if let parcel = remembered.parcel { parcels[parcel].edits.removeAll { $0 == edit } }
                try foldAgain(note)
                if !holds(note, member) { holders[member]?.remove(note) }
            }
            notes[index] = remembered
        }
    }

    private func holds(_ note: UniqueID, _ attachment: UniqueID) -> Bool {
        guard case .entity(.note(let note))? = state(note) else { return false }
        return note.attachments[attachment]?.value == true
    }

    /// Folds this push's edits of an object again, after one of them was taken out.
    private mutating func foldAgain(_ id: UniqueID) throws {
        guard case .entity(let now)? = state(id) else { return }
        var entity = now.section.empty(id)
        if case .entity(let standing, _)? = before[id] { entity = standing }
        for edit in added(to: id).flatMap(\.edits) { entity.fold(edit) }
        set(id, .entity(entity))
    }
}
