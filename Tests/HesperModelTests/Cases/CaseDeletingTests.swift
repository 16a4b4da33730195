import Testing

@testable import HesperModel

/// merge.md, Cases: what is deleted stays deleted, and nobody's words go with it.
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

    @Test("Case 11: A deletes the note, B edits it later: deleted; B's words in a new note, and in the history")
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

    @Test("Case 11: A's answer is lost, and B's too: the words are rescued once")
    func case11Lost() throws {
        var world = start
        world[0].delete(note)
        world[1].write(note, "Milk and bread")
        try world.sync(0, answerIsLost: true)
        try world.sync(1, answerIsLost: true)
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

    @Test("Case 16: A deletes tag x, B tags a note with it: no x anywhere, the note otherwise untouched")
    func case16() throws {
        var world = start
        let x = world.makeTag("x")
        try world.settle()
        world[0].delete(x)
        world[1].addTag(x, to: note)
        for end in try world.everyOrder() {
            #expect(end[0].tags(of: note) == [] && end[1].tags(of: note) == [])
            #expect(end[0].tags.isEmpty && end[0].text(note) == "Milk")
            // Nobody rewrites a register: the dead are left out by whoever reads.
            #expect(end[0].note(note)?.tags[x]?.value == true)
        }
    }

    @Test("Case 20: A was offline for three years with a note that B deleted: it goes on A, and stays gone")
    func case20() throws {
        var world = start
        world[1].delete(note)
        try world.sync(1)
        world.pass(3 * 365 * 86_400_000)
        try world.settle()
        #expect(world[0].notes.isEmpty)
        #expect(world[0].deleted[note]?.objectType == .note)
    }

    @Test("Case 20: what A did to it in these years does not bring it back")
    func case20Edited() throws {
        var world = start
        world[1].delete(note)
        try world.sync(1)
        world.pass(3 * 365 * 86_400_000)
        world[0].archive(note)
        try world.settle()
        #expect(world[0].notes.isEmpty)
    }

    @Test("An object never seen can be deleted: its DeletedObject waits for it")
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

    @Test("A push to a deleted object that is sent again adds nothing to the bag")
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
