import Testing

@testable import HesperModel

/// merge.md, Cases: concurrent edits of a note's text.
@Suite("Cases: text")
struct CaseTextTests {
    /// Two devices that both have a note, and are offline from now on.
    static func start(_ text: String) throws -> (World, UniqueID) {
        var world = World()
        let note = world.makeNote(text)
        try world.settle()
        return (world, note)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let (base, one, other, merged): (String, String, String, String)
        var testDescription: String { name }

        init(_ name: String, _ base: String, _ one: String, _ other: String, _ merged: String) {
            (self.name, self.base, self.one, self.other, self.merged) = (name, base, one, other, merged)
        }
    }

    static let rows = [
        Row(
            "Case 5: A edits paragraph 1, B paragraph 3: both edits are kept",
            "One.\n\nTwo.\n\nThree.\n", "One!\n\nTwo.\n\nThree.\n", "One.\n\nTwo.\n\nThree!\n",
            "One!\n\nTwo.\n\nThree!\n"),
        Row(
            "Case 6: both append a line: both lines, the older one first",
            "Milk\n", "Milk\nBread\n", "Milk\nEggs\n", "Milk\nBread\nEggs\n"),
        Row("Case 7: both append the same line: one line", "Milk\n", "Milk\nBread\n", "Milk\nBread\n", "Milk\nBread\n"),
        Row(
            "Case 8: red to blue, later red to green: green", "a red car\n", "a blue car\n", "a green car\n",
            "a green car\n"),
        Row(
            "Case 9: A deletes a paragraph, B fixes a word in it: the fixed paragraph",
            "First.\n\nA smal word.\n\nLast.\n", "First.\n\nLast.\n", "First.\n\nA small word.\n\nLast.\n",
            "First.\n\nA small word.\n\nLast.\n"),
    ]

    @Test("A's text and B's later text merge into the same text in either order of arrival", arguments: rows)
    func bothOrders(row: Row) throws {
        var (world, note) = try CaseTextTests.start(row.base)
        world[0].write(note, row.one)
        world[1].write(note, row.other)
        for end in try world.everyOrder() {
            #expect(end[0].text(note) == row.merged)
            let history = end.server.bag.history(of: note)
            for version in [row.base, row.one, row.other] { #expect(history.contains(.string(version))) }
        }
    }

    /// The origin of a merged text is that of its newest source, not the clock that the server gave it.
    @Test("Case 8: the later word wins also after other merges")
    func case8() throws {
        var (world, note) = try CaseTextTests.start("a red car\n\nend\n")
        let third = world.add(ModelDevice(0xa2))
        try world.settle()
        world[third].write(note, "a red car\n\nend, changed\n")
        world[0].write(note, "a blue car\n\nend\n")
        world[1].write(note, "a green car\n\nend\n")
        for end in try world.everyOrder() { #expect(end[0].text(note) == "a green car\n\nend, changed\n") }
    }

    @Test("Case 10: A edits a text whose base is not known, B edits later: B's text, with A's in the history")
    func case10() throws {
        var (world, note) = try CaseTextTests.start("Start\n")
        // A has signed in again: the bag has no text by its new node, and not the base.
        let stranger = ModelDevice(0xbeef)
        let base = try #require(Clock(milliseconds: 1, node: stranger.node))
        let clock = try #require(Clock(milliseconds: UInt64(world.now.milliseconds), node: stranger.node))
        let push = Push([
            .change(
                Change(
                    uniqueID: note, section: .notes, edits: [Edit(.text, .string("A's\n"), at: clock)], textBase: base))
        ])
        world[1].write(note, "B's\n")
        let offline = world
        try world.sync(1)
        let outcome = try world.server.bag.apply(push, server: world.server.node, at: world.now)
        let current = world.server.bag.greatestClock
        #expect(outcome.receipts[0].status == .merged)
        let field = outcome.receipts[0].fields["text"]
        #expect(field?.outcome == .superseded && field?.clock == current)
        #expect(field?.superseded.map(\.text) == ["A's\n"])
        try world.settle()
        #expect(world[0].text(note) == "B's\n")
        #expect(world.server.bag.history(of: note).contains(.string("A's\n")))
        // In the other order B's base is known. Both replaced the whole line: both lines are kept.
        world = offline
        let first = try world.server.bag.apply(push, server: world.server.node, at: world.now)
        #expect(first.receipts[0].status == .applied)
        try world.settle()
        #expect(world[0].text(note) == "A's\nB's\n")
        #expect(world.server.bag.history(of: note).contains(.string("A's\n")))
    }

    @Test("Case 25: A loses the response and continues typing, B adds a paragraph: both once")
    func case25() throws {
        var (world, note) = try CaseTextTests.start("Start.\n")
        world[0].write(note, "Start.\n\nA sentence.\n")
        try world.sync(0, responseIsLost: true)
        try world.sync(1)
        world[1].write(note, "B's paragraph.\n\n" + (world[1].text(note) ?? ""))
        try world.sync(1)
        world[0].write(note, "Start.\n\nA sentence, and more.\n")
        try world.settle()
        #expect(world[0].text(note) == "B's paragraph.\n\nStart.\n\nA sentence, and more.\n")
    }

    @Test("Case 25: as before, but A's retry arrives before B has read A's text")
    func case25Retry() throws {
        var (world, note) = try CaseTextTests.start("Start.\n")
        world[0].write(note, "Start.\n\nA sentence.\n")
        try world.sync(0, responseIsLost: true)
        world[1].write(note, "B's paragraph.\n\nStart.\n")
        try world.sync(1)
        world[0].write(note, "Start.\n\nA sentence, and more.\n")
        try world.settle()
        #expect(world[0].text(note) == "B's paragraph.\n\nStart.\n\nA sentence, and more.\n")
    }

    @Test(
        "Case 26: A types a word and removes it, late; B appended a line earlier and pushes later: B's line is kept")
    func case26() throws {
        var (world, note) = try CaseTextTests.start("Milk\n")
        world[1].write(note, "Milk\nEggs\n")
        world[0].write(note, "Milk now\n")
        try world.sync(0)
        world[0].write(note, "Milk\n")
        try world.sync(0)
        try world.settle()
        #expect(world[0].text(note) == "Milk\nEggs\n")
    }

    @Test("Typing during a push never causes a merge")
    func typingOn() throws {
        var (world, note) = try CaseTextTests.start("")
        var typed = ""
        for word in ["The ", "quick ", "brown ", "fox\n"] {
            typed += word
            world[0].write(note, typed)
            let push = world[0].push()
            let response = try #require(try world.server.sync(push, since: world[0].token))
            typed += "(on) "
            world[0].write(note, typed)
            world[0].process(response, to: push)
            #expect(world[0].text(note) == typed)
        }
        try world.settle()
        #expect(world[1].text(note) == typed)
        #expect(world.server.bag.serverClock == nil, "the server had nothing to merge")
    }
}
