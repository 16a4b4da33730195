import Testing

@testable import HesperModel

/// merge.md, Cases: lost responses, wrong clocks, backups, imports.
@Suite("Cases: syncing")
struct CaseSyncTests {
    let start: World
    let note: UniqueID

    init() throws {
        var world = World()
        note = world.makeNote("Milk\n")
        try world.settle()
        start = world
    }

    @Test("Case 17: A pushes, loses the response and pushes again: the second push gets unchanged and changes nothing")
    func case17() throws {
        var world = start
        let tag = world.makeTag("x")
        world[0].write(note, "Milk\nBread\n")
        world[0].addTag(tag, to: note)
        world[0].set(note, .custom("pinned"), .bool(true))
        let new = world.makeNote("New")
        try world.sync(0, responseIsLost: true)
        let (digest, sequence, edits) = (
            world.server.bag.digest, world.server.bag.sequence,
            world.server.bag.parcels.values.joined().map(\.edits.count)
        )
        try world.sync(0)
        #expect(world[0].receipts.map(\.status) == [.unchanged, .unchanged, .unchanged])
        #expect(world[0].receipts.allSatisfy { $0.fields.isEmpty })
        #expect(world.server.bag.digest == digest && world.server.bag.sequence == sequence)
        #expect(world.server.bag.parcels.values.joined().map(\.edits.count).reduce(0, +) == edits.reduce(0, +))
        try world.settle()
        #expect(world[1].notes == [note, new])
    }

    @Test("Case 18: A's clock is a year ahead: both sync, A's edits get new clocks, B's later edits win")
    func case18() throws {
        var world = start
        world[0].clockError = 365 * 86_400_000
        world[0].write(note, "A's\n")
        world[0].archive(note)
        try world.sync(0)
        #expect(world[0].receipts[0].fields["text"]?.problem?.slug == .clockAhead)
        #expect(world[0].hasUnsent)
        try world.settle()
        #expect(world[1].text(note) == "A's\n" && world[1].note(note)?.archived == true)
        // B's later edits win over A's, which were made with the wrong clock.
        world[1].archive(note, false)
        world[1].write(note, "B's\n")
        try world.settle()
        #expect(world[0].text(note) == "B's\n" && world[0].note(note)?.archived == false)
        #expect(
            (world.server.bag.greatestClock?.milliseconds ?? 0) < UInt64(world.now.milliseconds) + Limits.clockAhead)
    }

    @Test("Case 18: A's clock is a year ahead and B edits concurrently: both end with the same value")
    func case18Concurrent() throws {
        var world = start
        world[0].clockError = 365 * 86_400_000
        world[0].archive(note)
        world[1].archive(note, false)
        for end in try world.everyOrder() { #expect(end[0].note(note)?.archived == end[1].note(note)?.archived) }
    }

    @Test("Pushed clocks cannot move the limit for clocks forward step by step")
    func ratchet() throws {
        var world = start
        let wall = UInt64(world.now.milliseconds)
        var greatest: UInt64 = 0
        for step in UInt64(1)...10 {
            let clock = try #require(Clock(milliseconds: wall + step * 240_000, node: NodeID(0xbad)))
            let push = Push([
                .change(Change(uniqueID: note, section: .notes, edits: [Edit(.archived, .bool(true), at: clock)]))
            ])
            let outcome = try world.server.bag.apply(push, server: world.server.node, at: world.now)
            if outcome.receipts[0].status != .rejected { greatest = clock.milliseconds }
        }
        #expect(greatest <= wall + Limits.clockAhead)
    }

    @Test("Case 24: the server is restored from last night's backup: nothing is lost, no deleted object returns")
    func case24() throws {
        var world = start
        let doomed = world.makeNote("doomed")
        let tag = world.makeTag("Paris")
        try world.settle()
        let backup = world.server.bag
        // After the backup: edits, a merge by the server, a new note, a deletion, merged tags.
        world[0].write(note, "Milk\nBread\n")
        world[1].write(note, "Milk\nEggs\n")
        let new = world.makeNote("new", on: 1)
        world[0].delete(doomed)
        let second = world.makeTag("PARIS", on: 1)
        world[1].addTag(second, to: new)
        try world.settle()
        let digest = world.server.bag.digest
        world[1].write(note, "Milk\nBread\nEggs\nTea\n")  // Not sent yet.

        world.server.restore(backup)
        for end in try world.everyOrder() {
            #expect(end[0].notes == [note, new])
            #expect(end[0].text(note) == "Milk\nBread\nEggs\nTea\n")
            #expect(end[0].tags(of: new) == [tag] && end[0].deleted[second]?.mergedInto == tag)
            #expect(end[0].deleted[doomed] != nil)
        }
        // Without the unsent edit, the scope is exactly as it was before the restore.
        world[1].forget(note)
        for end in try world.everyOrder() { #expect(end.server.bag.digest == digest) }
    }

    @Test("Case 24: an old database file without a new epoch is detected by its sequence")
    func case24SameEpoch() throws {
        var world = start
        let backup = world.server.bag
        world[0].write(note, "Milk\nBread\n")
        try world.settle()
        world.server.bag = backup
        for end in try world.everyOrder() { #expect(end[1].text(note) == "Milk\nBread\n") }
    }

    @Test("Case 32: A and B import the same folder: each note once")
    func case32() throws {
        var world = start
        let folder = try #require(UniqueID("6ba7b811-9dad-11d1-80b4-00c04fd430c8"))
        let files = ["a.md": "Alpha\n", "b.md": "Beta\n", "c.md": "Gamma\n"]
        for device in world.indices {
            for (name, text) in files.sorted(by: { $0.key < $1.key }) {
                let created = Timestamp(clamping: 1_000_000)
                world[device].makeNote(text, .derived(from: name, in: folder), created: created)
            }
        }
        for end in try world.everyOrder() {
            #expect(end[0].notes.count == 4)
            for (name, text) in files { #expect(end[0].text(.derived(from: name, in: folder)) == text) }
        }
    }

    @Test("Waiting registers are sent to the device that creates the note")
    func waitingRegisters() throws {
        var world = start
        let waiting = world.id()
        let text = Edit(.text, .string("A's words\n"), at: world[0].tick())
        let push = Push([
            .change(Change(uniqueID: waiting, section: .notes, edits: [text], textBase: nil, textAfter: []))
        ])
        _ = try world.server.sync(push, by: world[0].node, since: world[0].token)
        world[1].make(.notes, waiting, [Edit(.creationDate, .date(world.now), at: nil)])
        try world.sync(1)
        #expect(world[1].text(waiting) == "A's words\n")
        try world.settle()
    }

    @Test("Two copies of one device use the same clock: the second is rejected and sets a new clock")
    func clockReused() throws {
        var world = start
        let twin = world.add(world[0])
        world[twin].clockError = -1000
        world[0].archive(note)
        world[twin].clockError = 0
        world[twin].source = ClockSource(node: world[twin].node)
        world.pass(-2000)
        world[twin].archive(note, false)
        try world.sync(0)
        let used = try #require(world[0].copy[note]?.register(.archived)?.clock)
        world[twin].unsent = [.init(object: note, attribute: .archived): .init(value: .bool(false), clock: used)]
        try world.sync(twin)
        #expect(world[twin].receipts[0].fields["archived"]?.problem?.slug == .clockReused)
        try world.settle()
        #expect(world[1].note(note)?.archived == false)
    }
}
