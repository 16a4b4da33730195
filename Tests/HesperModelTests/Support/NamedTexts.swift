@testable import HesperModel

/// Runs tests of notes on app objects: in pushes, notes become objects whose text `body` is the note's text, and whose type contains
/// the creation date. Results are converted back. The notes must not have other fields.
///
///     try NamedTexts.$isOn.withValue(true) { try CaseTextTests().case8() }
enum NamedTexts {
    @TaskLocal static var isOn = false

    static let attribute = Attribute.namedText("body")

    /// The attribute in which the bag has an attribute of a note.
    static func stored(_ attribute: Attribute) -> Attribute {
        isOn && attribute == .text ? NamedTexts.attribute : attribute
    }

    /// - Parameter type: returns the type of an object or a deleted object in the bag; nil if the bag does not know the object.
    static func stored(_ push: Push, type: (UniqueID) -> ObjectType?) -> Push {
        guard isOn else { return push }
        return Push(
            push.elements.map { element in
                switch element {
                case .change(let change) where change.section == .notes: .change(stored(change))
                case .deletion(let deletion) where deletion.objectType == .note:
                    .deletion(stored(deletion, type(deletion.uniqueID)))
                case .change, .deletion, .rejected: element
                }
            })
    }

    private static func stored(_ change: Change) -> Change {
        let edits = change.edits.map { edit in
            guard case .date(let date)? = edit.value, edit.attribute == .creationDate else {
                return Edit(stored(edit.attribute), edit.value, at: edit.clock)
            }
            return Edit(.objectType, .string("page.\(date.milliseconds)"), at: nil)
        }
        var object = Change(
            uniqueID: change.uniqueID, section: .objects, pointer: change.pointer, edits: edits,
            ancestries: Dictionary(uniqueKeysWithValues: change.ancestries.map { (stored($0.key), $0.value) }))
        object.replacesUnread = change.replacesUnread
        return object
    }

    private static func stored(_ deletion: Deletion, _ type: ObjectType?) -> Deletion {
        Deletion(
            uniqueID: deletion.uniqueID, objectType: type ?? ObjectType("page.0") ?? .note,
            rescuedInto: deletion.rescuedInto,
            deletionDate: deletion.deletionDate,
            seenTexts: deletion.seenTexts.map {
                Dictionary(uniqueKeysWithValues: $0.map { (stored($0.key), $0.value) })
            },
            textsAfter: Dictionary(uniqueKeysWithValues: deletion.textsAfter.map { (stored($0.key), $0.value) }),
            pointer: deletion.pointer)
    }

    // MARK: Results

    static func shown(_ state: ObjectState) -> ObjectState {
        guard isOn else { return state }
        switch state {
        case .entity(let entity, let sequence): return .entity(shown(entity), sequence: sequence)
        case .deleted(let deleted, let sequence):
            return .deleted(
                DeletedObject(
                    uniqueID: deleted.uniqueID, objectType: .note, mergedInto: deleted.mergedInto,
                    rescuedInto: deleted.rescuedInto, deletionDate: deleted.deletionDate), sequence: sequence)
        }
    }

    private static func shown(_ entity: Entity) -> Entity {
        guard case .object(let object) = entity else { return entity }
        var note = Section.notes.empty(object.uniqueID)
        if let date = object.objectType.flatMap({ Int64($0.name.dropFirst("page.".count)) }) {
            note.fold(Edit(.creationDate, .date(Timestamp(clamping: date)), at: nil))
        }
        object.content.forEachRegister { attribute, clock in
            let name = attribute == NamedTexts.attribute ? .text : attribute
            note.fold(Edit(name, object.content.register(attribute)?.value, at: clock))
        }
        return note
    }

    static func shown(_ receipt: Receipt) -> Receipt {
        guard isOn else { return receipt }
        var fields = receipt.fields
        fields["text"] = fields.removeValue(forKey: NamedTexts.attribute.description)
        var shown = Receipt(
            uniqueID: receipt.uniqueID, objectType: receipt.objectType.map { $0.hasPrefix("page.") ? "note" : $0 },
            pointer: receipt.pointer, status: receipt.status, fields: fields, problem: receipt.problem)
        shown.rescuedInto = receipt.rescuedInto
        return shown
    }
}
