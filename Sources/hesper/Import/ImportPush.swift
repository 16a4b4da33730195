import HesperModel
import HesperStore

/// Creates pushes from imported files. The edits are the same as if a device had created the notes.
enum ImportPush {
    /// Creates a push with the changes that the scope does not contain yet. A new note is pushed completely. For an existing
    /// note only the text is pushed, so that an import does not undo later changes. A deleted note stays deleted.
    /// - Parameter stamp: makes the clocks for new tags.
    static func make(_ notes: [SourceNote], in bag: any Bag, stamp: inout Stamp) throws -> Push {
        let states = try bag.states(of: notes.map(\.uniqueID))
        var tags = ImportTags(bag: bag)
        var elements: [Push.Element] = []
        for note in notes {
            switch states[note.uniqueID] {
            case .deleted?:
                let receipt = Receipt(
                    uniqueID: note.uniqueID, objectType: ObjectType.note.name, pointer: note.file.relativePath,
                    status: .deleted)
                elements.append(.rejected(receipt))
            case .entity(let entity, _)? where entity.exists:
                if entity.register(.text)?.value == .string(note.text) { continue }
                elements.append(.change(note.change([note.textEdit])))
            case .entity?, nil:
                let ids = try note.tags.map { try tags.find($0, stamp: &stamp) }
                elements.append(.change(note.change(note.edits(tags: ids))))
            }
        }
        return Push(tags.created + elements)
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

    /// An ID for a new tag. No object has or had this ID. Deleted tags are not restored, and renamed tags keep their new names,
    /// so the first derived ID that was never used is returned.
    private func unusedID(_ folded: String) throws -> UniqueID {
        for generation in 0..<ImportTags.generations {
            let id = UniqueID.derived(from: generation == 0 ? folded : "\(folded)\n\(generation)", in: ImportTags.tags)
            if try bag.states(of: [id]).isEmpty { return id }
        }
        return .random()
    }
}

extension SourceNote {
    fileprivate var textEdit: Edit { Edit(.text, .string(text), at: clock) }

    fileprivate func edits(tags: [UniqueID]) -> [Edit] {
        [
            Edit(.creationDate, .date(min(file.creation, file.modification)), at: nil), textEdit,
            Edit(.sortDate, .date(file.modification), at: clock),
        ] + Set(tags).sorted().map { Edit(.tag($0), .bool(true), at: clock) }
    }

    fileprivate func change(_ edits: [Edit]) -> Change {
        Change(uniqueID: uniqueID, section: .notes, pointer: file.relativePath, edits: edits)
    }
}
