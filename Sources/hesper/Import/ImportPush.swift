import HesperModel
import HesperStore

/// Makes pushes of files, as a device would that had made the notes.
enum ImportPush {
    /// Says of each note what the scope does not know: all of a new one; of one that is there, the text alone, so that an
    /// import undoes nothing that was done to a note since the first one. The deleted stay deleted.
    /// - Parameter stamp: for the tags that are missing.
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
        return Push(tags.made + elements)
    }
}

/// The tags of one push by their names.
private struct ImportTags {
    let bag: any Bag
    /// Those that are missing.
    private(set) var made: [Push.Element] = []
    private var found: [String: UniqueID] = [:]

    init(bag: any Bag) { self.bag = bag }

    /// The live tag of this name, whoever made it; else a new one, whose ID comes from the name.
    mutating func find(_ name: String, stamp: inout Stamp) throws -> UniqueID {
        let folded = TagName.fold(name)
        if let id = found[folded] { return id }
        if let id = try bag.tag(named: folded) {
            found[folded] = id
            return id
        }
        let id = try unusedID(folded)
        let edit = Edit(.name, .string(name), at: stamp.tick(after: nil))
        made.append(.change(Change(uniqueID: id, section: .tags, edits: [edit])))
        found[folded] = id
        return id
    }

    private static let tags = UniqueID(high: 0xe1c4_07a9_8d36_4275, low: 0xb58f_1e60_93d2_4ca7)
    /// How often a tag of one name can be made by imports and deleted or renamed by people, before IDs are random.
    private static let generations = 100

    /// A deleted tag does not come back, and one that was given another name is another tag by now: then it is the next.
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
