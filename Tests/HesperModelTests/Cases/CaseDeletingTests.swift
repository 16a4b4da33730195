import Testing

@testable import HesperModel

/// merge.md, Cases: deleted objects stay deleted, and no unseen words are lost.
@Suite("Cases: deleting")
struct CaseDeletingTests {
    let start: World
    let note: UniqueID

    init() throws {
        var world = World()
        note = world.makeNote("Milk")
        try world.settle()
        start = world
    }

    @Test(
        "Case 11: A deletes the note, B edits it later: it is deleted; B's words are in a new note and in the history")
    func case11() throws {
        var world = start
        world[0].delete(note)
        world[1].write(note, "Milk and bread")
        for end in try world.everyOrder() {
            #expect(end[0].deleted[note] != nil && end[1].deleted[note] != nil)
            #expect(end[0].notes == end[1].notes && end[0].notes.count == 1)
            #expect(end[0].notes.map { end[0].text($0) } == ["Milk and bread"])
            #expect(end.server.bag.history(of: note).contains(.string("Milk and bread")))
        }
    }

    @Test("Case 11: the responses to A and B are lost: the words are rescued once")
    func case11Lost() throws {
        var world = start
        world[0].delete(note)
        world[1].write(note, "Milk and bread")
        try world.sync(0, responseIsLost: true)
        try world.sync(1, responseIsLost: true)
        try world.settle()
        #expect(world[0].notes.map { world[0].text($0) } == ["Milk and bread"])
    }

    @Test("Case 12: both delete the note: one DeletedObject")
    func case12() throws {
        var world = start
        world[0].delete(note)
        world[1].delete(note)
        for end in try world.everyOrder() {
            #expect(end.server.bag.states.count == 1)
            #expect(end[0].deleted[note]?.deletionDate == end[1].deleted[note]?.deletionDate)
        }
    }

    @Test("Case 16: A deletes tag x, B tags a note with it: no note has x, the note is otherwise unchanged")
    func case16() throws {
        var world = start
        let x = world.makeTag("x")
        try world.settle()
        world[0].delete(x)
        world[1].addTag(x, to: note)
        for end in try world.everyOrder() {
            #expect(end[0].tags(of: note) == [] && end[1].tags(of: note) == [])
            #expect(end[0].tags.isEmpty && end[0].text(note) == "Milk")
            // The register is unchanged. Deleted members are left out when the note is read.
            #expect(end[0].note(note)?.tags[x]?.value == true)
        }
    }

    @Test("Case 20: A was offline for three years with a note that B deleted: it is deleted on A too")
    func case20() throws {
        var world = start
        world[1].delete(note)
        try world.sync(1)
        world.pass(3 * 365 * 86_400_000)
        try world.settle()
        #expect(world[0].notes.isEmpty)
        #expect(world[0].deleted[note]?.objectType == .note)
    }

    @Test("Case 20: A's edits in these years do not restore it")
    func case20Edited() throws {
        var world = start
        world[1].delete(note)
        try world.sync(1)
        world.pass(3 * 365 * 86_400_000)
        world[0].archive(note)
        try world.settle()
        #expect(world[0].notes.isEmpty)
    }

    @Test("An unknown object can be deleted: later edits of it have no effect")
    func neverSeen() throws {
        var world = start
        let unborn = world.id()
        let deletion = Push([.deletion(Deletion(uniqueID: unborn, objectType: .note))])
        #expect(
            try world.server.bag.apply(deletion, server: world.server.node, at: world.now).receipts[0].status
                == .applied)
        world[0].makeNote("too late", unborn)
        try world.sync(0)
        #expect(world[0].receipts[0].status == .deleted)
        #expect(world[0].receipts[0].fields["text"]?.outcome == .deleted)
        #expect(world[0].entity(unborn) == nil)
        #expect(world.server.bag.history(of: unborn) == [.string("too late")])
        try world.settle()
        #expect(world[1].notes.compactMap { world[1].text($0) }.sorted() == ["Milk", "too late"])
    }

    @Test("Sending a push to a deleted object again adds nothing to the bag")
    func sentAgain() throws {
        var world = start
        world[0].delete(note)
        world[1].makeNote("again", note)
        try world.sync(0)
        let push = world[1].push()
        let first = try world.server.bag.apply(push, server: world.server.node, at: world.now)
        let second = try world.server.bag.apply(push, server: world.server.node, at: world.now)
        #expect(!first.parcels.isEmpty && second.parcels.isEmpty && second.changes.isEmpty)
        #expect(first.receipts == second.receipts)
    }
}

/// merge.md, Deleting a text that was not seen.
@Suite("Cases: rescued words")
struct CaseRescueTests {
    /// A note with a tag and a picture, which both devices have.
    private static func start() throws -> (world: World, note: UniqueID, tag: UniqueID, picture: UniqueID) {
        var world = World()
        let note = world.makeNote("Milk\n")
        guard !NamedTexts.isOn else {
            try world.settle()
            return (world, note, note, note)
        }
        let (tag, picture) = (world.makeTag("Paris"), world.id())
        world.server.bag.data[picture] = AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32))
        world[0].make(.attachments, picture, [Edit(.mimeType, .string("image/png"), at: nil)])
        world[0].addTag(tag, to: note)
        world[0].attach(picture, to: note)
        try world.settle()
        return (world, note, tag, picture)
    }

    @Test(
        "Case 33: A deletes with an old version, B wrote for an hour: one live note with B's words, tags and pictures")
    func case33() throws {
        var (world, note, tag, picture) = try CaseRescueTests.start()
        let created = world[0].note(note)?.creationDate
        world[1].write(note, "Milk\nB's words\n")
        try world.sync(1)
        world[1].close()
        world[0].delete(note)
        try world.sync(0)
        #expect(world[0].receipts.map(\.status) == [.rescued] && world[0].receipts[0].rescuedInto == note.rescue)
        #expect(world[0].note(note.rescue) != nil, "the response to the deletion contains the new note")
        try world.settle()
        for device in world.indices {
            #expect(world[device].notes == [note.rescue])
            #expect(world[device].deleted[note]?.rescuedInto == note.rescue)
            #expect(world[device].text(note.rescue) == "Milk\nB's words\n")
            #expect(world[device].tags(of: note.rescue) == [tag])
            #expect(world[device].attachments(of: note.rescue) == [picture])
            #expect(world[device].note(note.rescue)?.creationDate == created)
        }
    }

    @Test("Unsent words, and those of a note that is still open, are in the one new note")
    func unsentWords() throws {
        var (world, note, _, _) = try CaseRescueTests.start()
        let third = world.add(ModelDevice(0xa2))
        try world.settle()
        world[1].write(note, "Milk\nB's words\n")
        try world.sync(1)
        world[third].write(note, "Milk\nC's words\n")
        world[1].write(note, "Milk\nB's words, and more\n")
        world[0].delete(note)
        try world.sync(0)
        for order in permutations([0, 1, third]) {
            var end = world
            try end.settle(order)
            #expect(end[0].notes == [note.rescue])
            let text = try #require(end[0].text(note.rescue))
            #expect(text.contains("B's words, and more\n") && text.contains("C's words\n"))
            #expect(text.split(separator: "\n").count == 3, "\(text)")
        }
    }

    @Test("Words of a lost response are not duplicated when later typing is moved to the new note")
    func answerLost() throws {
        var (world, note, _, _) = try CaseRescueTests.start()
        let third = world.add(ModelDevice(0xa2))
        try world.settle()
        world[1].write(note, "Milk\nB's line\n")
        try world.sync(1)
        world[1].close()
        world[third].write(note, "C's line\nMilk\n")
        try world.sync(third, responseIsLost: true)
        world[third].write(note, "C's line, longer\nMilk\n")
        world[0].delete(note)
        try world.sync(0)
        try world.settle()
        #expect(world[0].notes == [note.rescue])
        #expect(world[0].text(note.rescue) == "C's line, longer\nMilk\nB's line\n")
    }

    @Test("Words that the deleting device saw or wrote are not rescued")
    func seen() throws {
        var (world, note, _, _) = try CaseRescueTests.start()
        world[1].write(note, "Milk\nB's words\n")
        try world.settle()
        world[0].write(note, "Milk\nB's words\nmine\n")
        // The response is lost: only the deletion's textAfter names these words of the server.
        try world.sync(0, responseIsLost: true)
        var again = world
        again[0].signInAgain(as: 0xf0)
        for var end in [world, again] {
            end[0].delete(note)
            try end.sync(0)
            #expect(end[0].receipts.map(\.status) == [.applied])
            try end.settle()
            #expect(end[0].notes.isEmpty && end[1].notes.isEmpty)
        }
    }

    @Test("A note is deleted by a device that saw no text: later words are rescued")
    func noText() throws {
        var world = World()
        let note = world.id()
        world[0].make(.notes, note, [Edit(.creationDate, .date(world.now), at: nil)])
        try world.settle()
        world[1].write(note, "B's words\n")
        try world.sync(1)
        world[1].close()
        world[0].delete(note)
        try world.settle()
        #expect(world[0].notes == [note.rescue] && world[0].text(note.rescue) == "B's words\n")
    }

    @Test("Both delete it: the second deletion rescues nothing")
    func deletedTwice() throws {
        var (world, note, _, _) = try CaseRescueTests.start()
        world[1].write(note, "Milk\nB's words\n")
        try world.sync(1)
        world[1].delete(note)
        world[0].delete(note)
        var first = world
        try first.settle([1, 0])
        #expect(first[0].notes.isEmpty, "B wrote the words and deleted them first")
        try world.settle([0, 1])
        #expect(world[0].notes == [note.rescue])
    }

    @Test("A picture that the deleting device moved to another note stays there")
    func movedPicture() throws {
        var (world, note, _, picture) = try CaseRescueTests.start()
        let other = world.makeNote("other\n")
        try world.settle()
        world[1].write(note, "Milk\nB's words\n")
        try world.sync(1)
        world[0].delete(note)
        world[0].attach(picture, to: other)
        try world.settle()
        #expect(world[0].attachments(of: other) == [picture] && world[0].attachments(of: note.rescue) == [])
    }

    @Test("After a restore the rescued note is given back, and a late deletion loses nothing")
    func restored() throws {
        var (world, note, _, _) = try CaseRescueTests.start()
        let third = world.add(ModelDevice(0xa2))
        try world.settle()
        let backup = world.server.bag
        world[1].write(note, "Milk\nB's words\n")
        try world.sync(1)
        world[1].close()
        world[0].delete(note)
        world[third].delete(note)
        try world.sync(0)
        try world.sync(1)
        world.server.restore(backup)
        for order in permutations([0, 1, third]) {
            var end = world
            try end.settle(order)
            #expect(end[0].notes == [note.rescue], "\(order)")
            #expect(end[0].text(note.rescue) == "Milk\nB's words\n")
            #expect(end[third].deleted[note]?.rescuedInto == note.rescue)
        }
    }
}
