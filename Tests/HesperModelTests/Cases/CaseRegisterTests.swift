import Testing

@testable import HesperModel

/// merge.md, Cases: registers of notes.
@Suite("Cases: registers")
struct CaseRegisterTests {
    /// Two devices that both have a note with two tags, and are offline from now on.
    let start: World
    let (note, x, y): (UniqueID, UniqueID, UniqueID)

    init() throws {
        var world = World()
        x = world.makeTag("x")
        y = world.makeTag("y")
        note = world.makeNote("Milk")
        try world.settle()
        start = world
    }

    @Test("Case 1: A archives, B edits the text: archived with the new text, which the response to A contains")
    func case1() throws {
        var world = start
        world[0].archive(note)
        world[1].write(note, "Milk and bread")
        for end in try world.everyOrder() {
            #expect(end[0].note(note)?.archived == true)
            #expect(end[0].text(note) == "Milk and bread")
        }
        try world.sync(1)
        try world.sync(0)
        #expect(world[0].receipts.map(\.status) == [.applied])
        #expect(world[0].text(note) == "Milk and bread")
    }

    @Test("Case 2: A adds tag x, B adds tag y: both tags")
    func case2() throws {
        var world = start
        world[0].addTag(x, to: note)
        world[1].addTag(y, to: note)
        for end in try world.everyOrder() { #expect(end[0].tags(of: note) == [x, y]) }
    }

    @Test("Case 3: A removes tag x, B adds tag y: y only")
    func case3() throws {
        var world = start
        world[0].addTag(x, to: note)
        try world.settle()
        world[0].removeTag(x, from: note)
        world[1].addTag(y, to: note)
        for end in try world.everyOrder() { #expect(end[1].tags(of: note) == [y]) }
    }

    @Test("Case 4: A removes tag x at clock 5, B adds it again at clock 7: x")
    func case4() throws {
        var world = start
        world[0].addTag(x, to: note)
        try world.settle()
        world[0].removeTag(x, from: note)
        world[1].addTag(x, to: note)
        for end in try world.everyOrder() { #expect(end[0].tags(of: note) == [x]) }
    }

    @Test("Case 19: A's clock is a year behind, and A edits after seeing B's edit: A's edit wins")
    func case19() throws {
        var world = start
        world[0].clockError = -365 * 86_400_000
        world[0].offset = 0
        world[1].archive(note)
        world[1].write(note, "B's")
        try world.settle()
        world[0].offset = 0
        world[0].archive(note, false)
        world[0].write(note, "A's")
        for end in try world.everyOrder() {
            #expect(end[1].note(note)?.archived == false)
            #expect(end[1].text(note) == "A's")
        }
    }

    @Test("Case 22: A sets attributes.pinned, a client that does not know it edits the note: both edits remain")
    func case22() throws {
        var world = start
        world[0].set(note, .custom("pinned"), .bool(true))
        world[1].write(note, "Milk, oats")
        for end in try world.everyOrder() {
            #expect(end[1].note(note)?.attributes["pinned"]?.value == .bool(true))
            #expect(end[1].text(note) == "Milk, oats")
        }
    }

    @Test(
        "Case 27: A archives and loses the response, B unarchives later: not archived; A's retry gets the current value"
    )
    func case27() throws {
        var world = start
        world[0].archive(note)
        try world.sync(0, responseIsLost: true)
        try world.sync(1)
        world[1].archive(note, false)
        try world.sync(1)
        let current = world[1].copy[note]?.register(.archived)?.clock
        try world.sync(0)
        #expect(world[0].receipts.map(\.status) == [.merged])
        #expect(world[0].receipts[0].fields["archived"] == Receipt.Field(.superseded, clock: current))
        #expect(world[0].note(note)?.archived == false)
        try world.settle()
        #expect(world.server.bag.history(of: note, .archived) == [.bool(true), .bool(false)])
    }

    @Test("A phone and a laptop change different fields of one object: no conflict")
    func differentFields() throws {
        var world = start
        let contact = world.id()
        world[0].make(.objects, contact, [Edit(.objectType, .string("contact"), at: nil)])
        world[0].set(contact, .custom("phone"), .string("1"))
        world[0].set(contact, .custom("email"), .string("a@example.org"))
        try world.settle()
        world[0].set(contact, .custom("phone"), .string("2"))
        world[1].set(contact, .custom("email"), .string("b@example.org"))
        for end in try world.everyOrder() {
            guard case .object(let object)? = end[0].entity(contact) else { throw Missing(contact) }
            #expect(object.attributes["phone"]?.value == .string("2"))
            #expect(object.attributes["email"]?.value == .string("b@example.org"))
            #expect(end.indices.allSatisfy { end[$0].receipts.allSatisfy { $0.status <= .applied } })
        }
    }
}

/// An object that a test requires is missing.
struct Missing: Error {
    let id: UniqueID
    init(_ id: UniqueID) { self.id = id }
}
