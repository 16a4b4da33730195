import Testing

@testable import HesperModel

/// The texts of app objects follow the same rules as the texts of notes. The tests of notes are run on app objects.
@Suite("Texts of app objects") struct NamedTextTests {
    /// Runs a test with notes that are app objects in the bag.
    private func onObjects(_ test: () throws -> Void) rethrows { try NamedTexts.$isOn.withValue(true, operation: test) }

    @Test("The cases of concurrent edits hold") func cases() throws {
        try onObjects {
            let text = CaseTextTests()
            for row in CaseTextTests.rows { try text.bothOrders(row: row) }
            try text.case8()
            try text.case10()
            try text.case25()
            try text.case25Retry()
            try text.case26()
            try text.typingOn()
        }
    }

    @Test("The rules of descent hold") func descent() throws {
        try onObjects {
            let descent = TextDescentTests()
            for row in TextDescentTests.rows {
                try descent.reordered(row: row)
                try descent.signedInAgain(row: row)
            }
            try descent.foreignBase()
            try descent.givenBack()
            try descent.generations()
            try descent.restoredTwice()
            try descent.onlyMerged()
            try descent.earlyClock()
            try descent.unknownRestore()
            try descent.takenBack()
            try descent.pastArrivesLate()
            try descent.manyUnanswered()
            try descent.baseGivenBackLate()
            try descent.replacedUnread()
            try descent.supersededWords()
            try descent.supersededWhole()
        }
    }

    @Test("One device: the last text wins whatever is reordered, repeated, delayed or lost")
    func alone() throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        try onObjects { try TextDescentTests().alone(seed: seed) }
    }

    @Test("Texts that lost words are reported") func lostWords() throws {
        try onObjects {
            let lost = LostWordsTests()
            for row in LostWordsTests.rows { try lost.names(row: row) }
            try lost.case8()
            try lost.case10()
            try lost.sameText()
        }
    }

    @Test("Words that a deletion had not seen are in a new object") func rescues() throws {
        try onObjects {
            try CaseDeletingTests().case11()
            try CaseDeletingTests().case11Lost()
            let rescue = CaseRescueTests()
            try rescue.unsentWords()
            try rescue.answerLost()
            try rescue.seen()
            try rescue.noText()
            try rescue.deletedTwice()
            try rescue.restored()
        }
    }

    // MARK: Several texts

    private let id = UniqueID.random()
    private let server = NodeID(0x5e)
    private let node = NodeID(0xa)
    private let now = Timestamp(clamping: 1_000_000)

    private func clock(_ time: UInt64) throws -> Clock { try #require(Clock(milliseconds: time, node: node)) }

    private func object(
        _ texts: [String: String], at time: UInt64, base: UInt64? = nil, type: String? = "recipe"
    ) throws -> Push {
        let clock = try clock(time)
        let edits = texts.sorted { $0.key < $1.key }.map { Edit(.namedText($0.key), .string($0.value), at: clock) }
        let ancestry = TextAncestry(base: try base.map(self.clock), after: [])
        let ancestries = Dictionary(uniqueKeysWithValues: edits.map { ($0.attribute, ancestry) })
        let made = type.map { [Edit(.objectType, .string($0), at: nil)] } ?? []
        return Push([
            .change(Change(uniqueID: id, section: .objects, edits: made + edits, ancestries: ancestries))
        ])
    }

    @Test("Each text of a push is in a parcel of its own, with its own descent") func parcels() throws {
        var bag = MemoryBag()
        try bag.apply(object(["a": "one\n", "b": "two\n"], at: 1), server: server, at: now)
        #expect(bag.parcels[id]?.map(\.text) == [.namedText("a"), .namedText("b")])
        #expect(bag.parcels[id]?.flatMap(\.edits).count == 3)
        // The same clocks in another text are another version.
        try bag.apply(object(["a": "one\nmore\n"], at: 2, base: 1), server: server, at: now)
        let outcome = try bag.apply(object(["b": "two\nmore\n"], at: 2, base: 1), server: server, at: now)
        #expect(outcome.receipts.map(\.status) == [.applied])
        #expect(try bag.newest(.namedText("b"), of: id, by: node, before: clock(2)) == clock(1))
        #expect(try bag.newest(.text, of: id, by: node, before: clock(9)) == nil)
        bag.check()
    }

    @Test("A clock of one text is no base of another") func foreignClocks() throws {
        var bag = MemoryBag()
        try bag.apply(object(["a": "a\n"], at: 1), server: server, at: now)
        try bag.apply(object(["b": "b\n"], at: 2), server: server, at: now)
        // The base is the current version of another text, so it is not known.
        try bag.apply(object(["b": "c\n"], at: 3, base: 1), server: server, at: now)
        #expect(bag.history(of: id, .namedText("b")) == [.string("b\n"), .string("c\n")])
        #expect(bag.lostTexts == [LostText(object: id, attribute: .namedText("b"), clock: try clock(2))])
    }

    // MARK: Limits

    private func status(_ push: Push, _ bag: inout MemoryBag) throws -> Receipt.Status? {
        try bag.apply(push, server: server, at: now).receipts.first?.status
    }

    @Test("An object has at most 4 texts of 1 MiB and 64 files, with names of at most 64 bytes") func limits() throws {
        var bag = MemoryBag()
        let large = String(repeating: "x", count: Limits.textBytes)
        let names = (1...Limits.objectTexts).map { "t\($0)" + String(repeating: "n", count: Limits.nameLength - 2) }
        #expect(
            try status(object(Dictionary(uniqueKeysWithValues: names.map { ($0, large) }), at: 1), &bag) == .applied)
        #expect(try status(object(["more": ""], at: 2), &bag) == .rejected)
        // A text that exists can still be changed, and emptied texts count.
        #expect(try status(object([names[0]: ""], at: 3, base: 1), &bag) == .applied)
        #expect(try status(object(["more": "x"], at: 4), &bag) == .rejected)

        let all = try (0..<Limits.objectFiles).map {
            Edit(.file("f\($0)"), .string(UniqueID.random().description), at: try clock(5))
        }
        func files(_ edits: [Edit]) -> Push { Push([.change(Change(uniqueID: id, section: .objects, edits: edits))]) }
        #expect(try status(files(all), &bag) == .applied)
        #expect(try status(files([Edit(.file("f0"), .null, at: try clock(6))]), &bag) == .applied)
        #expect(try status(files([Edit(.file("more"), .null, at: try clock(7))]), &bag) == .rejected)

        for json in [
            #""texts": {"\#(names[0])x": ""}"#, #""texts": {"a": "\#(large)x"}"#, #""texts": {"a": null}"#,
            #""files": {"\#(names[0])x": null}"#, #""files": {"a": "photo.png"}"#, #""files": {"a": true}"#,
        ] {
            let push = try PushReader.read(
                JSONReader.read(Array(#"{"objects": [{"uniqueID": "\#(id)", \#(json)}]}"#.utf8)))
            guard case .change(let change) = try #require(push.elements.first) else { continue }
            #expect(change.rejected.values.contains { $0.slug == .invalidField }, "\(json.prefix(60))")
        }
        bag.check()
    }

    // MARK: Files

    @Test("Of two files set at once one is current, and the object holds only that one") func files() throws {
        var bag = MemoryBag()
        let (one, two) = (UniqueID.random(), UniqueID.random())
        for (time, file) in [(2, one), (1, two)] as [(UInt64, UniqueID)] {
            let edits = [
                Edit(.objectType, .string("recipe"), at: nil),
                Edit(.file("photo"), .string(file.description), at: try clock(time)),
            ]
            try bag.apply(
                Push([.change(Change(uniqueID: id, section: .objects, edits: edits))]), server: server, at: now)
        }
        #expect(bag.holders(of: one) == [id] && bag.holders(of: two) == [])
        guard case .entity(let entity)? = bag[id] else {
            Issue.record("the object does not exist")
            return
        }
        #expect(entity.heldAttachments == [one] && entity.heldMembers == [one])
    }

    @Test("A file moves from an object to a note in one push, and a second holder is rejected") func movedFile() throws
    {
        var bag = MemoryBag()
        let (file, note) = (UniqueID.random(), UniqueID.random())
        func change(_ id: UniqueID, _ section: Section, _ edits: [Edit]) -> Push.Element {
            .change(Change(uniqueID: id, section: section, edits: edits))
        }
        let held = Edit(.file("photo"), .string(file.description), at: try clock(1))
        try bag.apply(
            Push([change(id, .objects, [Edit(.objectType, .string("recipe"), at: nil), held])]), server: server, at: now
        )
        let second = change(
            note, .notes,
            [Edit(.creationDate, .date(now), at: nil), Edit(.attachment(file), .bool(true), at: try clock(2))])
        var outcome = try bag.apply(Push([second]), server: server, at: now)
        #expect(outcome.receipts[0].fields[Attribute.attachment(file).description]?.problem?.slug == .attachmentInUse)
        let moved = change(note, .notes, [Edit(.attachment(file), .bool(true), at: try clock(3))])
        let released = change(id, .objects, [Edit(.file("photo"), .null, at: try clock(3))])
        outcome = try bag.apply(Push([moved, released]), server: server, at: now)
        #expect(outcome.receipts.map(\.status) == [.applied, .applied])
        #expect(bag.holders(of: file) == [note])
        bag.check()
    }
}
