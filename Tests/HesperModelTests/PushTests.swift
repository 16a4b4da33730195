import HesperModel
import Testing

@Suite struct PushTests {
    @Test func itsNodesAreThoseOfAllClocksInIt() {
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
}
