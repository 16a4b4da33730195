import Testing

@testable import HesperModel

/// Merges of large texts are prepared before the scope is locked. All other merge tests check that the results are the same,
/// because `MemoryBag` prepares every merge.
@Suite("Prepared texts")
struct PreparedTextsTests {
    private let server = NodeID(0x5e_7e_00)
    private let now = Timestamp(clamping: 1_000_000)
    private func c(_ time: UInt64, _ node: UInt64 = 0xa) -> Clock { TextDesk.clock(time, node) }

    private func push(_ desk: TextDesk, _ text: String, _ clock: Clock) -> Push {
        Push([
            .change(
                Change(
                    uniqueID: desk.note, section: .notes, edits: [Edit(.text, .string(text), at: clock)],
                    textBase: c(1), textAfter: []))
        ])
    }

    private func apply(
        _ push: Push, to desk: TextDesk, _ texts: PreparedTexts?, textBytes: Int = 0
    ) throws -> MergeOutcome {
        var context = Merge.Context(now: now, server: server, serverClock: nil, greatestClock: nil)
        context.bounds.texts = texts
        context.bounds.textBytes = textBytes
        return try Merge.apply(push, to: desk.bag, in: context)
    }

    @Test("A merge that was prepared with outdated texts is requested again")
    func moved() throws {
        var desk = try TextDesk("a b c d\n", at: c(1))
        try desk.push("a b c D\n", c(2, 0xb), base: c(1))
        let push = push(desk, "A b c d\n", c(3))
        let first = try apply(push, to: desk, PreparedTexts())
        #expect(first.pendingMerges.map(\.input.older) == ["a b c D\n"])
        #expect(first.changes.isEmpty && first.parcels.isEmpty && first.receipts.isEmpty)

        var texts = PreparedTexts()
        for merge in first.pendingMerges { texts.add(merge, merge.input.outcome) }
        #expect(try apply(push, to: desk, texts).pendingMerges.isEmpty)
        try desk.push("a B c D\n", c(4, 0xb), base: c(2, 0xb))
        let second = try apply(push, to: desk, texts)
        #expect(second.pendingMerges.map(\.input.newer) == ["a B c D\n"])
    }

    @Test("Texts up to the limit, or all texts if there is none, are merged without preparation")
    func small() throws {
        var desk = try TextDesk("a b c d\n", at: c(1))
        try desk.push("a b c D\n", c(2, 0xb), base: c(1))
        let push = push(desk, "A b c d\n", c(3))
        for (texts, bytes, isMerged) in [(PreparedTexts(), 24, true), (PreparedTexts(), 23, false), (nil, 0, true)] {
            #expect(try apply(push, to: desk, texts, textBytes: bytes).pendingMerges.isEmpty == isMerged)
        }
    }
}
