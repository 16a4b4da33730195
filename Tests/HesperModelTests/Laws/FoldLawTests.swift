import Testing

@testable import HesperModel

/// merge.md, The fold: merging is the union of bags, so it is commutative, associative and idempotent.
@Suite("Laws: the fold")
struct FoldLawTests {
    /// The number of bags per run in `make test-all`. The runs are executed in parallel.
    static let count = 2_600

    @Test("Any order, repetition or partition of a bag folds to the same objects and digest", arguments: 1...4)
    func bags(run: Int) {
        var random = SeededGenerator(for: "bags \(run)")
        var differ = 0
        for number in 0..<(isEverything ? FoldLawTests.count : 1_000) {
            let bag = RandomBag(using: &random)
            let fold = Refold(bag.items).outcome
            let shuffled = Refold(bag.items.shuffled(using: &random))
            let repeated = Refold(
                (bag.items + bag.items.filter { _ in Bool.random(using: &random) }).shuffled(using: &random))
            let half = bag.items.map { ($0, Bool.random(using: &random)) }
            var parts = Refold(half.filter(\.1).map(\.0))
            parts.add(Refold(half.filter { !$0.1 }.map(\.0)))
            for (variant, other) in [("shuffled", shuffled), ("repeated", repeated), ("partitioned", parts)]
            where fold != other.outcome {
                Issue.record("bag \(number) of run \(run), seed \(random.seed), \(variant)")
                differ += 1
            }
            guard differ < 5 else { return }
        }
    }

    @Test("The random bags contain every feature of bags")
    func coverage() {
        var random = SeededGenerator(for: "what bags hold")
        var missing: Set<String> = [
            "note creationDate", "note creationDate twice", "note text", "note archived", "note sortDate", "note tags",
            "note attachments", "note attributes", "note waits", "note deleted", "tag name", "tag attributes",
            "tag waits",
            "tag deleted", "tag merged", "tag merged twice", "attachment mimeType", "attachment width",
            "attachment height", "attachment filename", "attachment byteCount", "attachment sha256",
            "attachment preview", "attachment waits", "attachment deleted", "object objectType", "object attributes",
            "object waits", "object deleted", "an edit of a deleted object", "one clock in two attributes",
            "a live member", "a deleted or unknown member", "a merged member", "two members merged into one",
        ]
        for _ in 0..<FoldLawTests.count / 2 { missing.subtract(RandomBag(using: &random).features) }
        #expect(missing.isEmpty, "seed \(random.seed)")
    }
}

extension RandomBag {
    /// The features of a bag, in words.
    fileprivate var features: Set<String> {
        var features: Set<String> = []
        let fold = Refold(items)
        var clocks: [UniqueID: [Clock: Attribute]] = [:]
        for item in items {
            switch item {
            case .edit(let parcel):
                let section = parcel.objectType.map(Section.init) ?? .objects
                for edit in parcel.edits {
                    let name = edit.attribute.description.prefix { $0 != "." }
                    let feature = "\(section.singular) \(name)"
                    if !features.insert(feature).inserted { features.insert("\(feature) twice") }
                    if fold.deleted[parcel.object] != nil { features.insert("an edit of a deleted object") }
                    guard let clock = edit.clock else { continue }
                    let other = clocks[parcel.object, default: [:]].updateValue(edit.attribute, forKey: clock)
                    if let other, other != edit.attribute { features.insert("one clock in two attributes") }
                }
            case .deletion(let deleted):
                let type = Section(deleted.objectType).singular
                features.insert("\(type) deleted")
                guard deleted.mergedInto != nil else { continue }
                if !features.insert("\(type) merged").inserted { features.insert("\(type) merged twice") }
            }
        }
        for entity in fold.entities.values {
            if !entity.exists { features.insert("\(entity.section.singular) waits") }
            guard case .note(let note) = entity else { continue }
            let members = Array(note.tags.registers.keys)
            let live = members.compactMap(fold.resolve)
            if live.count > Set(live).count { features.insert("two members merged into one") }
            for member in members {
                switch fold.resolve(member) {
                case nil: features.insert("a deleted or unknown member")
                case member: features.insert("a live member")
                default: features.insert("a merged member")
                }
            }
        }
        return features
    }
}

extension Section {
    fileprivate var singular: String { String(name.dropLast()) }
}

extension Refold {
    /// The result of folding a bag: the bodies of objects, the DeletedObjects, the resolved members, the digest.
    struct Outcome: Equatable {
        // Includes waiting objects.
        let objects: [UniqueID: [UInt8]]
        let deleted: [UniqueID: DeletedObject]
        let members: [UniqueID: [[UniqueID]]]
        let digest: Digest
    }

    var outcome: Outcome {
        Outcome(objects: entities.mapValues(\.body), deleted: deleted, members: members, digest: digest)
    }

    /// The resolved tags and attachments of each note (merge.md, Membership).
    private var members: [UniqueID: [[UniqueID]]] {
        entities.compactMapValues { entity in
            guard case .note(let note) = entity else { return nil }
            return [note.tags.resolved(resolve), note.attachments.resolved(resolve)]
        }
    }
}
