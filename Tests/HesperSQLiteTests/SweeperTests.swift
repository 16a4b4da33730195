import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import Testing

@testable import HesperSQLite

/// Thinning and removal of edits over time (merge.md, Thinning and Deleting; storage.md, The sweeper).
@Suite("Sweeping the history")
struct SweeperTests {
    static let (hour, day) = (Timestamp.hour, Timestamp.day)

    // MARK: Idempotency keys

    @Test("Records of idempotency keys are removed after a day, within an hour")
    func idempotencyKeys() async throws {
        let desk = try await SweepDesk()
        let sweeper = desk.sweeper()
        try await desk.keepIdempotencyRecord(1)
        desk.pass(2 * SweeperTests.hour)
        try await desk.keepIdempotencyRecord(2)
        func left() async throws -> Int64 { try await desk.number("SELECT count(*) FROM idempotency_keys") }
        try await desk.sweep(after: 21 * SweeperTests.hour, with: sweeper)
        #expect(try await left() == 2)
        try await desk.sweep(after: SweeperTests.hour, with: sweeper)
        #expect(try await left() == 1)
        try await desk.sweep(after: 2 * SweeperTests.hour, with: sweeper)
        #expect(try await left() == 0)
    }

    // MARK: Thinning

    @Test("An hour of typing in a 50 KB note is thinned after a day, a month and a year")
    func typing() async throws {
        let desk = try await SweepDesk()
        let note = UniqueID.random()
        let phone = NodeID(0xb)
        try await desk.signIn(phone)
        var text = String(repeating: "A line of fifty bytes that somebody wrote before.\n", count: 1_000)
        try await desk.push(desk.note(note, text))
        desk.pass(30 * 60_000)
        for index in 0..<1_800 {
            desk.pass(2_000)
            text += index % 9 == 8 ? "words\n" : "words "
            try await desk.push(desk.text(note, text))
            if index == 900 { try await desk.read(phone, upTo: try await desk.head.sequence) }
            if index % 30 == 29 { try await desk.read(desk.node, upTo: try await desk.head.sequence) }
        }
        func left(_ when: String) async throws -> (values: Int, bytes: Int64) {
            let values = Int(try await desk.number("SELECT count(*) FROM versions WHERE attribute = 'text'"))
            let bytes = try await desk.number("SELECT sum(length(CAST(body AS BLOB))) FROM edits")
            print("an hour of typing, \(when): \(values) texts, \(bytes) bytes in the bag")
            return (values, bytes)
        }
        try await desk.sweep(after: SweeperTests.hour)
        let typed = try await left("at first")
        #expect(typed.values == 1_801)
        #expect(typed.bytes > 80_000_000)
        let keys = Int64(1_801 * 70)

        // One per hour, those that the phone may have, and those around the laptop's last read.
        try await desk.sweep(after: 26 * SweeperTests.hour)
        let day = try await left("after a day")
        #expect(day.values <= 3 + 91 + 91)
        #expect(day.bytes < Int64(day.values) * 65_000 + keys)

        // Both devices have read further, so neither can start from those texts any more.
        for device in [phone, desk.node] { try await desk.read(device, upTo: try await desk.head.sequence) }
        try await desk.sweep(after: 32 * SweeperTests.day)
        let month = try await left("after a month")
        #expect(month.values == 1)
        #expect(month.bytes < 65_000 + keys)

        try await desk.sweep(after: 365 * SweeperTests.day)
        let year = try await left("after a year")
        #expect(year == month)
        #expect(try await desk.values(note) == [.string(text)])
        #expect(try await desk.number("SELECT count(*) FROM edits") == 1_801, "the edits remain without their values")
        #expect(try await desk.number("SELECT count(*) FROM sweeps WHERE due_date IS NOT NULL") == 0)
    }

    @Test("A device that was offline for months merges against its old base without losing words")
    func offline() async throws {
        let desk = try await SweepDesk()
        let (note, phone) = (UniqueID.random(), NodeID(0xb))
        try await desk.signIn(phone)
        try await desk.push(desk.note(note, "One.\n\nTwo.\n"))
        // The phone reads in the middle of an hour of writing.
        var base: Clock?
        for index in 1...60 {
            desk.pass(10_000)
            try await desk.push(desk.text(note, "One.\n\nTwo.\n\nLine \(index).\n"))
            if index == 20 {
                base = desk.clock()
                try await desk.read(phone, upTo: try await desk.head.sequence)
            }
        }
        try await desk.read(desk.node, upTo: try await desk.head.sequence)
        for _ in 0..<14 { try await desk.sweep(after: 10 * SweeperTests.day) }
        let left = try await desk.values(note)
        #expect(left.contains(.string("One.\n\nTwo.\n\nLine 20.\n")))
        #expect(left.count < 30)
        #expect(!left.contains(.string("One.\n\nTwo.\n\nLine 1.\n")))
        try await desk.push(
            desk.text(note, "One, from far away.\n\nTwo.\n\nLine 20.\n", by: phone, base: base), by: phone)
        #expect(try await desk.text(of: note) == "One, from far away.\n\nTwo.\n\nLine 60.\n")
        try await desk.sweep(after: SweeperTests.hour)
    }

    @Test("A repeated push whose values were thinned changes nothing")
    func retry() async throws {
        let desk = try await SweepDesk()
        let note = UniqueID.random()
        try await desk.push(desk.note(note, "0"))
        desk.pass(1)
        let second = desk.text(note, "2")
        try await desk.push(second)
        desk.pass(1_000)
        try await desk.push(desk.text(note, "3"))
        let before = try await desk.push(second)
        desk.pass(400 * SweeperTests.day)
        try await desk.read(desk.node, upTo: try await desk.head.sequence)
        try await desk.sweep()
        #expect(try await desk.values(note) == [.string("3")])
        let head = try await desk.head
        let edits = try await desk.number("SELECT count(*) FROM edits")
        let after = try await desk.push(second)
        #expect(after.receipts == before.receipts)
        #expect(try await desk.head == head)
        #expect(try await desk.number("SELECT count(*) FROM edits") == edits)
        #expect(try await desk.text(of: note) == "3")
    }

    @Test("All registers are thinned; current values, values set once and texts that lost words are kept")
    func registers() async throws {
        let desk = try await SweepDesk()
        let (note, other, tag) = (UniqueID.random(), NodeID(0xb), UniqueID.random())
        try await desk.signIn(other)
        try await desk.push(desk.note(note, "a red car\n"))
        let base = desk.clock()
        for index in 1...5 {
            desk.pass(1_000)
            try await desk.push(
                desk.change(
                    note, .notes, Edit(.custom("place"), .integer(Int64(index)), at: desk.clock()),
                    Edit(.tag(tag), .bool(index % 2 == 1), at: desk.clock())))
        }
        try await desk.push(desk.text(note, "a blue car\n"))
        desk.pass(1_000)
        try await desk.push(desk.text(note, "a green car\n", by: other, base: base), by: other)
        for word in ["a green cart\n", "a green card\n", "a green care\n"] {
            desk.pass(1_000)
            try await desk.push(desk.text(note, word, base: try await desk.textClock(of: note)))
        }
        desk.pass(2 * SweeperTests.day)
        for device in [desk.node, other] { try await desk.read(device, upTo: try await desk.head.sequence) }
        try await desk.sweep()
        #expect(try await desk.values(note, .custom("place")) == [.integer(5)])
        #expect(try await desk.values(note, .tag(tag)) == [.bool(true)])
        #expect(try await desk.values(note, .creationDate).count == 1)
        let texts = try await desk.values(note)
        #expect(texts.contains(.string("a blue car\n")), "its word was lost in a merge")
        #expect(texts.last == .string("a green care\n"))
        #expect(!texts.contains(.string("a green cart\n")))
    }

    @Test("A superseded edit schedules a sweep, and a note without changes does not")
    func lateEdits() async throws {
        let desk = try await SweepDesk()
        let (note, quiet) = (UniqueID.random(), UniqueID.random())
        let early = desk.change(note, .notes, Edit(.archived, .bool(true), at: desk.clock()))
        desk.pass(1_000)
        try await desk.push(desk.note(note, "x"), desk.note(quiet, "y"))
        try await desk.push(desk.change(note, .notes, Edit(.archived, .bool(false), at: desk.clock())))
        for _ in 0..<3 { try await desk.sweep(after: 3 * SweeperTests.day) }
        #expect(try await desk.number("SELECT count(*) FROM sweeps") == 1)
        #expect(try await desk.number("SELECT count(*) FROM sweeps WHERE due_date IS NOT NULL") == 0)
        try await desk.push(early)
        #expect(try await desk.number("SELECT count(*) FROM sweeps WHERE due_date IS NOT NULL") == 1)
        for _ in 0..<40 { try await desk.sweep(after: SweeperTests.day) }
        // The value arrived on a different day, so it is kept.
        #expect(try await desk.values(note, .archived) == [.bool(false), .bool(true)])
    }

    // MARK: Deleted objects

    @Test("Edits of a deleted note are removed after the grace period, and late edits after their own")
    func purge() async throws {
        let desk = try await SweepDesk()
        let (note, other) = (UniqueID.random(), UniqueID.random())
        try await desk.push(desk.note(note, "x"), desk.note(other, "y"))
        desk.pass(1_000)
        try await desk.push(desk.text(note, "xx"))
        // The device reports a deletion a year ago; the grace period starts now.
        let old = desk.now.adding(-365 * SweeperTests.day)
        try await desk.push(
            .deletion(Deletion(uniqueID: note, objectType: .note, deletionDate: old)), desk.delete(.random()))
        let policy = SweepPolicy(history: .standard, grace: 10 * SweeperTests.day)
        func rows() async throws -> Int64 { try await desk.number("SELECT count(*) FROM edits") }
        try await desk.sweep(after: 9 * SweeperTests.day, with: desk.sweeper(policy))
        #expect(try await rows() == 3)
        try await desk.push(desk.change(note, .notes, Edit(.archived, .bool(true), at: desk.clock())))
        #expect(try await rows() == 4)
        try await desk.sweep(after: 2 * SweeperTests.day, with: desk.sweeper(policy))
        #expect(try await rows() == 2, "the late edit and the other note's")
        try await desk.sweep(after: 9 * SweeperTests.day, with: desk.sweeper(policy))
        #expect(try await rows() == 1)
        #expect(try await desk.number("SELECT count(*) FROM sweeps") == 0)
        #expect(try await desk.number("SELECT count(*) FROM versions") == 0)
        // The DeletedObject remains, and later edits are removed as well.
        guard case .deleted? = try await desk.state(note) else {
            Issue.record("it is no longer deleted")
            return
        }
        try await desk.push(desk.note(note, "back from the dead"))
        #expect(try await desk.text(of: note) == nil)
        try await desk.sweep(after: 11 * SweeperTests.day, with: desk.sweeper(policy))
        #expect(try await rows() == 1)
        #expect(try await desk.text(of: other) == "y")
    }

    // MARK: Transactions

    @Test("A transaction ends when its time is used up, and everything is swept in the end")
    func budget() async throws {
        let desk = try await SweepDesk()
        let note = UniqueID.random()
        try await desk.push(desk.note(note, "x"))
        for index in 0..<50 {
            desk.pass(1_000)
            try await desk.push(desk.text(note, "x\(index)"))
        }
        try await desk.push(desk.delete(note))
        // Each reading of the clock advances it by a millisecond, so the time is used up after five steps.
        let time = NIOLockedValueBox((now: ContinuousClock.now, rests: [Duration]()))
        let throttle = WriterThrottle(
            instant: {
                time.withLockedValue { time in
                    time.now += .milliseconds(1)
                    return time.now
                }
            }, rest: { rest in time.withLockedValue { $0.rests.append(rest) } })
        try await desk.sweep(after: 31 * SweeperTests.day, with: desk.sweeper(throttle: throttle))
        #expect(try await desk.number("SELECT count(*) FROM edits") == 0)
        let rests = time.withLockedValue { $0.rests }
        #expect(rests.count >= 51 / 5)
        // Five steps, and the readings before them and after the commit.
        let longest = WriterThrottle.budget + .milliseconds(1)
        #expect(rests.allSatisfy { $0 <= longest * WriterThrottle.restPerWork })
        #expect(rests.contains(longest * WriterThrottle.restPerWork))
    }

    @Test("An interrupted sweep leaves a consistent state, and another sweeper continues")
    func interrupted() async throws {
        let desk = try await SweepDesk()
        let note = UniqueID.random()
        try await desk.push(desk.note(note, "x"))
        for index in 0..<50 {
            desk.pass(1_000)
            try await desk.push(desk.text(note, "x\(index)"))
        }
        desk.pass(9 * SweeperTests.day)
        try await desk.read(desk.node, upTo: try await desk.head.sequence)
        for _ in 0..<60 {
            // Each transaction has one step, and the process ends after the second.
            let left = NIOLockedValueBox(2)
            let time = NIOLockedValueBox(ContinuousClock.now)
            let throttle = WriterThrottle(
                instant: {
                    time.withLockedValue { time in
                        time += .seconds(1)
                        return time
                    }
                },
                rest: { _ in
                    let isOver = left.withLockedValue { left in
                        left -= 1
                        return left <= 0
                    }
                    if isOver { throw CancellationError() }
                })
            try await desk.sweep(with: desk.sweeper(throttle: throttle))
            desk.pass(3 * SweeperTests.hour)
        }
        try await desk.sweep()
        #expect(try await desk.values(note) == [.string("x49")])
    }

    @Test("One of two sweepers works, and the other takes over when the lease ends")
    func lease() async throws {
        let desk = try await SweepDesk()
        let note = UniqueID.random()
        try await desk.push(desk.note(note, "x"))
        try await desk.push(desk.delete(note))
        desk.pass(31 * SweeperTests.day)
        let now = desk.now
        // Another process sweeps, and is killed.
        #expect(try await desk.store.write { try $0.takeLease("sweeper", for: 1, at: now, until: now.adding(60_000)) })
        let second = desk.sweeper()
        try await desk.sweep(with: second)
        #expect(try await desk.number("SELECT count(*) FROM edits") == 1)
        try await desk.sweep(after: 60_000, with: second)
        #expect(try await desk.number("SELECT count(*) FROM edits") == 0)
        #expect(try await desk.number("SELECT holder FROM leases WHERE name = 'sweeper'") != 1)
    }
}
