import HesperModel
import HesperMoveIn
import HesperStore

/// Creates pushes from imported notes. The edits are the same as if a device had created the notes.
enum ImportPush {
    /// Creates a push with the changes that the scope does not contain yet. A new note is pushed completely. For an existing
    /// note only the text and new attachments are pushed, so that an import does not undo later changes. A deleted note stays
    /// deleted.
    /// - Parameters:
    ///   - stored: the attachments whose data is stored. Others are left out.
    ///   - stamp: makes the clocks for new tags.
    static func make(
        _ notes: [SourceNote], _ stored: Set<UniqueID>, in bag: any Bag, stamp: inout Stamp
    ) throws -> Push {
        let states = try bag.states(of: notes.map(\.uniqueID))
        var tags = ImportTags(bag: bag)
        var attachments: [Push.Element] = []
        var elements: [Push.Element] = []
        for note in notes {
            let files = note.attachments.filter { stored.contains($0.uniqueID) }
            switch states[note.uniqueID] {
            case .deleted?:
                let receipt = Receipt(
                    uniqueID: note.uniqueID, objectType: ObjectType.note.name, pointer: note.path, status: .deleted)
                elements.append(.rejected(receipt))
            case .entity(let entity, _)? where entity.exists:
                let new = files.filter { entity.register(.attachment($0.uniqueID)) == nil }
                var edits = new.map(note.edit)
                if entity.register(.text)?.value != .string(note.text) { edits.append(note.textEdit(after: entity)) }
                if edits.isEmpty { continue }
                attachments += new.map(\.change)
                elements.append(.change(note.change(edits)))
            case .entity?, nil:
                let ids = try note.tags.map { try tags.find($0, stamp: &stamp) }
                attachments += files.map(\.change)
                elements.append(.change(note.change(note.edits(tags: ids) + files.map(note.edit))))
            }
        }
        return Push(tags.created + attachments + elements)
    }
}

/// Finds the tags for the notes of one push, and creates those that do not exist.
private struct ImportTags {
    let bag: any Bag
    /// The changes that create the missing tags.
    private(set) var created: [Push.Element] = []
    private var found: [String: UniqueID] = [:]

    init(bag: any Bag) { self.bag = bag }

    /// Returns the ID of the tag with this name. If there is none, creates a tag with an ID that is derived from the name.
    mutating func find(_ name: String, stamp: inout Stamp) throws -> UniqueID {
        let folded = TagName.fold(name)
        if let id = found[folded] { return id }
        if let id = try bag.tag(named: folded) {
            found[folded] = id
            return id
        }
        let id = try unusedID(folded)
        let edit = Edit(.name, .string(name), at: stamp.tick(after: nil))
        created.append(.change(Change(uniqueID: id, section: .tags, edits: [edit])))
        found[folded] = id
        return id
    }

    private static let tags = UniqueID(high: 0xe1c4_07a9_8d36_4275, low: 0xb58f_1e60_93d2_4ca7)
    /// The maximum number of derived IDs that are tried before a random ID is used. Whenever an imported tag was deleted or
    /// renamed, its derived ID cannot be used again.
    private static let generations = 100

    /// An ID for a new tag. It is the first derived ID that no object has or had. The ID of a deleted or renamed tag is not used
    /// again, because a deleted tag is not restored, and a renamed tag keeps its new name.
    private func unusedID(_ folded: String) throws -> UniqueID {
        for generation in 0..<ImportTags.generations {
            let id = UniqueID.derived(from: generation == 0 ? folded : "\(folded)\n\(generation)", in: ImportTags.tags)
            if try bag.states(of: [id]).isEmpty { return id }
        }
        return .random()
    }
}

extension SourceNote {
    /// Two dates count as equal if their difference is less than this number of milliseconds.
    private static let dateTolerance: UInt64 = 1_000

    fileprivate var textEdit: Edit { Edit(.text, .string(text), at: clock) }

    /// The edit of the text of an existing note. If the previous import had a different text with the same date, this edit gets a
    /// later clock than that text, so that the text that is imported last wins.
    fileprivate func textEdit(after entity: Entity) -> Edit {
        guard let current = entity.register(.text)?.clock, current.node == clock.node, current > clock,
            current.milliseconds - clock.milliseconds < SourceNote.dateTolerance,
            let later = Clock(milliseconds: current.milliseconds + 1, counter: clock.counter, node: clock.node)
        else { return textEdit }
        return Edit(.text, .string(text), at: later)
    }

    fileprivate func edit(_ attachment: SourceAttachment) -> Edit {
        Edit(.attachment(attachment.uniqueID), .bool(true), at: clock)
    }

    fileprivate func edits(tags: [UniqueID]) -> [Edit] {
        var edits = [
            Edit(.creationDate, .date(creation), at: nil), textEdit, Edit(.sortDate, .date(modification), at: clock),
        ]
        if isArchived { edits.append(Edit(.archived, .bool(true), at: clock)) }
        if isPinned { edits.append(Edit(.custom("pinned"), .bool(true), at: clock)) }
        return edits + Set(tags).sorted().map { Edit(.tag($0), .bool(true), at: clock) }
    }

    fileprivate func change(_ edits: [Edit]) -> Change {
        Change(uniqueID: uniqueID, section: .notes, pointer: path, edits: edits)
    }
}

extension SourceAttachment {
    fileprivate var change: Push.Element {
        let edits = [
            Edit(.mimeType, .string(mimeType), at: nil), Edit(.filename, .string(filename), at: nil),
        ]
        return .change(Change(uniqueID: uniqueID, section: .attachments, edits: edits))
    }
}
