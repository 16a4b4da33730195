import HesperModel
import Testing

@Suite struct PushTests {
    @Test func nodesAreThoseOfAllClocks() {
        func clock(_ node: UInt64) -> Clock {
            var source = ClockSource(node: NodeID(node))
            return source.tick(at: 1)
        }
        let push = Push([
            .change(
                Change(
                    uniqueID: .random(), section: .notes,
                    edits: [
                        Edit(.creationDate, .date(Timestamp(clamping: 0)), at: nil),
                        Edit(.text, .string("Milk"), at: clock(1)), Edit(.archived, .bool(true), at: clock(2)),
                    ], textBase: clock(3))),
            .change(
                Change(uniqueID: .random(), section: .tags, edits: [Edit(.name, .string("Rome"), at: clock(1))])),
            .deletion(Deletion(uniqueID: .random(), objectType: .note)),
        ])
        #expect(push.nodes == [NodeID(1), NodeID(2), NodeID(3)])
        #expect(Push().nodes.isEmpty)
    }

    @Test func pushOverTheLoadLimitIsRefused() throws {
        #expect(Limits.pushLoadBytes == 32 << 20)
        var source = ClockSource(node: NodeID(1))
        let (server, now) = (NodeID(2), Timestamp(clamping: 1_000))
        let ids = (0..<3).map { _ in UniqueID.random() }
        let text = String(repeating: "a", count: 1_000)
        var made: [Push.Element] = []
        var archived: [Push.Element] = []
        for id in ids {
            let edits = [
                Edit(.creationDate, .date(now), at: nil), Edit(.text, .string(text), at: source.tick(at: 1)),
            ]
            made.append(.change(Change(uniqueID: id, section: .notes, edits: edits)))
            let edit = Edit(.archived, .bool(true), at: source.tick(at: 2))
            archived.append(.change(Change(uniqueID: id, section: .notes, edits: [edit])))
        }
        var bag = MemoryBag()
        // New objects load nothing.
        try bag.apply(Push(made), server: server, at: now)
        var context = Merge.Context(now: now, server: server, serverClock: nil, greatestClock: bag.greatestClock)
        context.bounds.loadBytes = 3_000
        do {
            _ = try Merge.apply(Push(archived), to: bag, in: context)
            Issue.record("the push loaded more than the limit")
        } catch let problem as Problem {
            #expect(problem.slug == .tooLarge && problem.context["limit"] != nil)
        }
        let some = try Merge.apply(Push(Array(archived.prefix(2))), to: bag, in: context)
        #expect(some.receipts.map(\.status) == [.applied, .applied])
    }
}
