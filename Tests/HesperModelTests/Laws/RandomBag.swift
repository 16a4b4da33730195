@testable import HesperModel

/// A bag of a few objects, full of what makes merging hard: equal milliseconds, equal counters, members of one clock,
/// objects that wait, DeletedObjects that came first.
struct RandomBag {
    enum Item {
        case edit(Parcel)
        case deletion(DeletedObject)
    }

    private(set) var items: [Item] = []

    init(using random: inout SeededGenerator) {
        let ids = (0..<6).map { UniqueID(high: 0, low: UInt64($0)) }
        for id in ids.prefix(Int.random(in: 1...4, using: &random)) {
            let section = Section.allCases.randomElement(using: &random) ?? .notes
            var keys: Set<String> = []
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                let edit = RandomBag.edit(of: section, ids, using: &random)
                // A key has one value: another is refused before it comes into a bag.
                guard keys.insert("\(edit.attribute) \(edit.clock?.description ?? "")").inserted else { continue }
                items.append(.edit(Parcel(object: id, objectType: section.objectType, edits: [edit])))
            }
            for _ in 0..<2 where Int.random(in: 0..<8, using: &random) == 0 {
                items.append(
                    .deletion(
                        DeletedObject(
                            uniqueID: id, objectType: section.objectType ?? .note,
                            mergedInto: Bool.random(using: &random) ? ids.randomElement(using: &random) : nil,
                            deletionDate: Timestamp(clamping: Int64.random(in: 0..<5, using: &random)))))
            }
        }
    }

    private static func edit(of section: Section, _ ids: [UniqueID], using random: inout SeededGenerator) -> Edit {
        let node = NodeID(UInt64.random(in: 1...3, using: &random))
        let clock = Clock(
            time: UInt64.random(in: 0..<6, using: &random) << 16 | UInt64.random(in: 0..<2, using: &random), node: node)
        let number = Int64.random(in: 0..<100, using: &random)
        let member = ids.randomElement(using: &random) ?? ids[0]
        let custom = Edit(.custom("a\(number % 3)"), .integer(number), at: clock)
        switch (section, number % 7) {
        case (.notes, 0): return Edit(.creationDate, .date(Timestamp(clamping: number)), at: nil)
        case (.notes, 1): return Edit(.text, .string("text \(number)"), at: clock)
        case (.notes, 2): return Edit(.archived, .bool(number > 50), at: clock)
        case (.notes, 3): return Edit(.sortDate, .date(Timestamp(clamping: number)), at: clock)
        case (.notes, 4): return Edit(.tag(member), .bool(number > 30), at: clock)
        case (.notes, 5): return Edit(.attachment(member), .bool(number > 30), at: clock)
        case (.tags, 0...2): return Edit(.name, .string("name \(number)"), at: clock)
        case (.attachments, 0...2): return Edit(.mimeType, .string("image/png"), at: nil)
        case (.attachments, 3): return Edit(.width, .integer(4), at: nil)
        case (.attachments, 4): return Edit(.filename, .string("a.png"), at: nil)
        case (.attachments, _): return Edit(.sha256, .string(String(repeating: "0a", count: 32)), at: nil)
        case (.objects, 0...1): return Edit(.objectType, .string(number > 50 ? "board" : "card"), at: nil)
        default: return custom
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

    /// Folds another fold in, as a device takes in a page.
    mutating func add(_ other: Refold) {
        for deletion in other.deleted.values { add(deletion) }
        for (id, entity) in other.entities {
            let edits = ModelDevice.edits(in: entity.body, id, entity.section)
            add(Parcel(object: id, objectType: entity.section.objectType, edits: edits))
        }
    }
}
