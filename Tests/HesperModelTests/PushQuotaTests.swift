import HesperModel
import Testing

/// The elements of a push that are accepted at the quota (protocol.md, Quota).
@Suite("Pushes at the quota")
struct PushQuotaTests {
    private static let now = Timestamp(clamping: 1_000)
    private static let server = NodeID(2)
    private let note = UniqueID.random()

    private func clock(_ time: UInt64, by node: UInt64 = 1) -> Clock {
        var source = ClockSource(node: NodeID(node))
        return source.tick(at: time)
    }

    private func change(
        _ id: UniqueID, _ section: Section = .notes, at time: UInt64, by node: UInt64 = 1, base: Clock? = nil,
        isNew: Bool = false, _ values: (Attribute, Value)...
    ) -> Push.Element {
        let clock = clock(time, by: node)
        let date = isNew ? [Edit(.creationDate, .date(PushQuotaTests.now), at: nil)] : []
        return .change(
            Change(
                uniqueID: id, section: section, pointer: "/\(time)",
                edits: date + values.map { Edit($0.0, $0.1, at: clock) },
                textBase: base))
    }

    /// A bag with one note of 10 bytes.
    private func bag() throws -> MemoryBag {
        var bag = MemoryBag()
        let push = Push([
            change(note, at: 1, isNew: true, (.text, .string("0123456789")), (.custom("a"), .string("xx")))
        ])
        try bag.apply(push, server: PushQuotaTests.server, at: PushQuotaTests.now)
        return bag
    }

    private func context(_ bag: MemoryBag, used: Int64 = 100, limit: Int64 = 100) -> Merge.Context {
        Merge.Context(
            now: PushQuotaTests.now, server: PushQuotaTests.server, serverClock: nil, greatestClock: bag.greatestClock,
            storageUse: Merge.StorageUse(used: used, limit: limit))
    }

    private func slugs(_ outcome: MergeOutcome) -> [Problem.Slug?] { outcome.receipts.map { $0.problem?.slug } }

    @Test("Only elements that make a value longer are rejected, one by one")
    func elements() throws {
        let bag = try bag()
        let (tag, other, dead) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let cases: [(Push.Element, isAccepted: Bool)] = [
            (change(note, at: 9, (.text, .string("012345678"))), true),
            (change(note, at: 9, (.text, .string("987654321X"))), true),
            (change(note, at: 9, (.text, .string("0123456789X"))), false),
            // Ten characters, twenty bytes.
            (change(note, at: 9, (.text, .string("éééééééééé"))), false),
            (change(note, at: 9, (.text, .string(""))), true),
            (change(note, at: 9, (.archived, .bool(true)), (.tag(tag), .bool(true))), true),
            (change(note, at: 9, (.sortDate, .date(PushQuotaTests.now))), true),
            (change(note, at: 9, (.custom("a"), .string("yy"))), true),
            (change(note, at: 9, (.custom("a"), .string("yyy"))), false),
            (change(note, at: 9, (.custom("a"), .null), (.custom("b"), .integer(7))), true),
            (change(note, at: 9, (.custom("c"), .string("x"))), false),
            (change(note, at: 9, (.archived, .bool(true)), (.text, .string("0123456789X"))), false),
            (change(tag, .tags, at: 9, (.name, .string("Rome"))), true),
            (change(other, at: 9, isNew: true, (.text, .string("x"))), false),
            (.deletion(Deletion(uniqueID: note, objectType: .note)), true),
            (.deletion(Deletion(uniqueID: dead, objectType: .note)), true),
        ]
        for (element, isAccepted) in cases {
            let outcome = try Merge.apply(Push([element]), to: bag, in: context(bag))
            #expect(slugs(outcome) == [isAccepted ? nil : .quotaExceeded], "\(element)")
            #expect(outcome.receipts[0].status == (isAccepted ? .applied : .rejected))
            if !isAccepted { #expect(outcome.parcels.isEmpty && outcome.changes.isEmpty) }
        }
    }

    @Test("The problem contains the used bytes and the limit")
    func problem() throws {
        let bag = try bag()
        let push = Push([change(note, at: 9, (.text, .string("0123456789X")))])
        let problem = try #require(
            try Merge.apply(push, to: bag, in: context(bag, used: 120, limit: 100)).receipts[0].problem)
        #expect(problem.context == ["used": .integer(120), "limit": .integer(100)] && problem.pointer == "/9")
    }

    @Test("A push is accepted up to the exact limit, and small elements after it as well")
    func crossing() throws {
        let bag = MemoryBag()
        let (first, second, third) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let push = Push([
            change(first, at: 1, isNew: true, (.text, .string("one"))),
            change(second, at: 2, isNew: true, (.text, .string("two\u{1}"))),
            change(third, at: 3, isNew: true, (.text, .string("three, longer than two"))),
            change(first, at: 4, (.archived, .bool(true))),
        ])
        let whole = try Merge.apply(
            push, to: bag,
            in: Merge.Context(
                now: PushQuotaTests.now, server: PushQuotaTests.server, serverClock: nil, greatestClock: nil))
        let sizes = whole.parcels.map { Int64(ParcelBody.write($0.edits).count) }
        let two = sizes[0] + sizes[1]
        #expect(
            slugs(try Merge.apply(push, to: bag, in: context(bag, used: 0, limit: two))) == [
                nil, nil, .quotaExceeded, nil,
            ])
        #expect(
            slugs(try Merge.apply(push, to: bag, in: context(bag, used: 0, limit: two - 1)))
                == [nil, .quotaExceeded, .quotaExceeded, nil])
        #expect(
            slugs(try Merge.apply(push, to: bag, in: context(bag, used: 0, limit: two + sizes[2])))
                == [nil, nil, nil, nil])
    }

    @Test("Sending an accepted push again succeeds although the account is full")
    func again() throws {
        var bag = try bag()
        let longer = Push([
            change(note, at: 9, (.text, .string("0123456789 and more")), (.custom("a"), .string("longer"))),
            change(note, at: 10, (.text, .string("0"))),
        ])
        try bag.apply(longer, server: PushQuotaTests.server, at: PushQuotaTests.now)
        let outcome = try Merge.apply(longer, to: bag, in: context(bag))
        #expect(outcome.receipts.allSatisfy { $0.status < .rejected && $0.problem == nil })
        #expect(outcome.parcels.isEmpty)
    }

    @Test("A merged text is accepted even if it is longer than both texts")
    func merges() throws {
        var bag = try bag()
        let base = clock(1)
        let theirs = Push([change(note, at: 5, by: 3, base: base, (.text, .string("0123456789 more")))])
        try bag.apply(theirs, server: PushQuotaTests.server, at: PushQuotaTests.now)
        // As long as the current text.
        let ours = Push([change(note, at: 6, base: base, (.text, .string("more 0123456789")))])
        let outcome = try Merge.apply(ours, to: bag, in: context(bag))
        #expect(outcome.receipts.map(\.status) == [.merged])
        #expect(outcome.parcels.count == 2 && outcome.parcels[1].isServerMade)
    }

    @Test("A push fits only if its elements fit with all bytes escaped")
    func fits() throws {
        let push = Push([change(note, at: 9, (.text, .string(String(repeating: "\u{1}", count: 1_000))))])
        let bytes = Int64(
            ParcelBody.write([Edit(.text, .string(String(repeating: "\u{1}", count: 1_000)), at: clock(9))]).count)
        #expect(bytes > 6_000)
        #expect(!Merge.StorageUse(used: 0, limit: bytes - 1).fits(push))
        #expect(Merge.StorageUse(used: 0, limit: 2 * bytes).fits(push))
        #expect(!Merge.StorageUse(used: 1, limit: 0).fits(push))
    }
}
