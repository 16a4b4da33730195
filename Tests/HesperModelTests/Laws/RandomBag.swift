@testable import HesperModel

/// A bag of a few objects that are hard to merge: equal milliseconds, equal counters, members with equal clocks, waiting objects,
/// DeletedObjects that arrive first.
struct RandomBag {
    enum Item {
        case edit(Parcel)
        case deletion(DeletedObject)
    }

    private(set) var items: [Item] = []

    /// Creates up to five objects whose members and merge targets are each other or unknown.
    init(using random: inout SeededGenerator) {
        let ids = (0..<5).map { UniqueID(high: 0, low: UInt64($0)) }
        for id in ids.prefix(Int.random(in: 1...5, using: &random)) {
            let section = RandomBag.sections.randomElement(using: &random) ?? .notes
            var keys: Set<String> = []
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                let edit = RandomBag.edit(of: section, ids, using: &random)
                // A key has one value, because another one is rejected before it is added to a bag. Only creation dates may
                // differ.
                let isNew = keys.insert("\(edit.attribute) \(edit.clock?.description ?? "")").inserted
                guard isNew || edit.attribute == .creationDate else { continue }
                // Attributes of an app's object may arrive before its type.
                let type = edit.attribute == .objectType ? RandomBag.objectType(edit) : section.objectType
                items.append(.edit(Parcel(object: id, objectType: type, edits: [edit])))
            }
            for _ in 0..<2 where Int.random(in: 0..<8, using: &random) == 0 {
                let target = section == .tags && Bool.random(using: &random) ? ids.randomElement(using: &random) : nil
                items.append(
                    .deletion(
                        DeletedObject(
                            uniqueID: id, objectType: section.objectType ?? RandomBag.board, mergedInto: target,
                            deletionDate: Timestamp(clamping: Int64.random(in: 0..<5, using: &random)))))
            }
        }
        if Int.random(in: 0..<4, using: &random) == 0 { addMergedTags(using: &random) }
    }

    /// Adds three tags, some of them merged into smaller ones, and a note with registers of all three.
    private mutating func addMergedTags(using random: inout SeededGenerator) {
        let tags = (10..<13).map { UniqueID(high: 0, low: UInt64($0)) }
        let note = UniqueID(high: 0, low: 13)
        func add(_ id: UniqueID, _ type: ObjectType, _ edit: Edit) {
            items.append(.edit(Parcel(object: id, objectType: type, edits: [edit])))
        }
        add(note, .note, Edit(.creationDate, .date(Timestamp(clamping: 0)), at: nil))
        for (index, tag) in tags.enumerated() {
            add(tag, .tag, Edit(.name, .string("name"), at: RandomBag.clock(using: &random)))
            let isIn = Bool.random(using: &random)
            add(note, .note, Edit(.tag(tag), .bool(isIn), at: RandomBag.clock(using: &random)))
            guard index > 0, Int.random(in: 0..<3, using: &random) > 0 else { continue }
            for target in tags.prefix(index).shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)) {
                items.append(
                    .deletion(
                        DeletedObject(
                            uniqueID: tag, objectType: .tag, mergedInto: target, deletionDate: Timestamp(clamping: 0))))
            }
        }
    }

    /// Notes and tags are more frequent, so that they refer to each other.
    private static let sections: [Section] = [.notes, .notes, .tags, .tags, .attachments, .objects]
    private static let board = ObjectType("board") ?? .note

    private static func objectType(_ edit: Edit) -> ObjectType? {
        if case .string(let name)? = edit.value { ObjectType(name) } else { nil }
    }

    private static func clock(using random: inout SeededGenerator) -> Clock {
        Clock(
            time: UInt64.random(in: 0..<6, using: &random) << 16 | UInt64.random(in: 0..<2, using: &random),
            node: NodeID(UInt64.random(in: 1...3, using: &random)))
    }

    private static func edit(of section: Section, _ ids: [UniqueID], using random: inout SeededGenerator) -> Edit {
        let clock = clock(using: &random)
        let number = Int64.random(in: 0..<100, using: &random)
        let member = ids.randomElement(using: &random) ?? ids[0]
        switch (section, number % 7) {
        case (.notes, 0): return Edit(.creationDate, .date(Timestamp(clamping: number)), at: nil)
        case (.notes, 1): return Edit(.text, .string("text \(number)"), at: clock)
        case (.notes, 2): return Edit(.archived, .bool(number > 50), at: clock)
        case (.notes, 3): return Edit(.sortDate, .date(Timestamp(clamping: number)), at: clock)
        case (.notes, 4): return Edit(.tag(member), .bool(number > 30), at: clock)
        case (.notes, 5): return Edit(.attachment(member), .bool(number > 30), at: clock)
        case (.tags, 0...2): return Edit(.name, .string("name \(number)"), at: clock)
        case (.attachments, let index): return properties[Int(index)]
        case (.objects, 0...1): return Edit(.objectType, .string(number > 50 ? "board" : "card"), at: nil)
        default: return Edit(.custom("a\(number % 3)"), custom(number), at: clock)
        }
    }

    /// Set once, so the values are the same in every edit of an attachment.
    private static let properties = [
        Edit(.mimeType, .string("image/png"), at: nil), Edit(.width, .integer(4), at: nil),
        Edit(.height, .integer(3), at: nil), Edit(.filename, .string("a.png"), at: nil),
        Edit(.byteCount, .integer(70), at: nil), Edit(.sha256, .string(String(repeating: "0a", count: 32)), at: nil),
        Edit(.preview, .string("R0lGODlhAQABAAAAACw="), at: nil),
    ]

    /// A value of any type that an app may set.
    private static func custom(_ number: Int64) -> Value {
        switch number / 7 % 5 {
        case 0: .null
        case 1: .bool(number > 50)
        case 2: .number(Double(number) + 0.5)
        case 3: .string("é \(number)")
        default: .integer(number)
        }
    }
}

extension Refold {
    init(_ items: some Sequence<RandomBag.Item>) {
        for item in items {
            switch item {
            case .edit(let parcel): add(parcel)
            case .deletion(let deletion): add(deletion)
            }
        }
    }

    /// Applies the edits of another fold, as a device applies a page.
    mutating func add(_ other: Refold) {
        for deletion in other.deleted.values { add(deletion) }
        for (id, entity) in other.entities {
            let edits = ModelDevice.edits(in: entity.body, id, entity.section)
            add(Parcel(object: id, objectType: entity.section.objectType, edits: edits))
        }
    }
}
