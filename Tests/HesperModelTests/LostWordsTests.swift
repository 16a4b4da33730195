import Testing

@testable import HesperModel

/// Texts that lost words in a merge are reported, because the history keeps them without a time limit (merge.md, Text).
@Suite("Lost words")
struct LostWordsTests {
    /// Two edits of one base, and the texts that lose words when they are merged, in either order of arrival.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let (base, one, other): (String, String, String)
        let lost: [String]
        var testDescription: String { name }

        init(_ name: String, _ base: String, _ one: String, _ other: String, lost: [String]) {
            (self.name, self.base, self.one, self.other, self.lost) = (name, base, one, other, lost)
        }
    }

    static let rows = [
        Row(
            "Case 8: of blue and green, blue loses", "a red car\n", "a blue car\n", "a green car\n",
            lost: ["a blue car\n"]),
        Row(
            "Case 5: changes of two paragraphs lose nothing", "One.\n\nTwo.\n\nThree.\n", "One!\n\nTwo.\n\nThree.\n",
            "One.\n\nTwo.\n\nThree!\n", lost: []),
        Row("Case 6: two lines appended lose nothing", "Milk\n", "Milk\nBread\n", "Milk\nEggs\n", lost: []),
        Row("Case 7: the same line appended loses nothing", "Milk\n", "Milk\nBread\n", "Milk\nBread\n", lost: []),
        Row(
            "Case 9: a changed paragraph is kept despite its deletion and loses nothing",
            "First.\n\nA smal word.\n\nLast.\n",
            "First.\n\nLast.\n", "First.\n\nA small word.\n\nLast.\n", lost: []),
        Row(
            "The same replacement of the same word loses nothing", "a red car\n\nend\n", "a blue car\n\nend\n",
            "a blue car\n\nend, changed\n", lost: []),
        Row(
            "A word that the newer text contains is not lost", "a red car\n", "a blue car\n", "a dark blue car\n",
            lost: []),
        Row(
            "A word of the base that the newer text deletes is not lost", "a red car\n\nend\n", "a red car\n\nend\n!",
            "a car\n\nend\n", lost: []),
    ]

    @Test("The texts that lost words are reported", arguments: rows)
    func names(row: Row) throws {
        var (world, note) = try CaseTextTests.start(row.base)
        world[0].write(note, row.one)
        world[1].write(note, row.other)
        for end in try world.everyOrder() { #expect(end.server.bag.textsWithLostWords(of: note) == row.lost) }
    }

    @Test("Case 8, after other merges: the text that lost its word is reported in either order of arrival")
    func case8() throws {
        var (world, note) = try CaseTextTests.start("a red car\n\nend\n")
        let third = world.add(ModelDevice(0xa2))
        try world.settle()
        world[third].write(note, "a red car\n\nend, changed\n")
        world[0].write(note, "a blue car\n\nend\n")
        world[1].write(note, "a green car\n\nend\n")
        for end in try world.everyOrder() {
            let lost = end.server.bag.textsWithLostWords(of: note)
            // Its merge with the third text may have lost the word instead. Either way the words are kept.
            #expect(lost.contains { $0.contains("blue") })
            #expect(lost.allSatisfy { !$0.contains("green") })
        }
    }

    @Test("Case 10: if the base of a text is unknown, the text with the smaller clock is reported")
    func case10() throws {
        for isLater in [true, false] {
            var (world, note) = try CaseTextTests.start("Start\n")
            let stranger = ModelDevice(0xbeef)
            let base = try #require(Clock(milliseconds: 1, node: stranger.node))
            let time = world.now.milliseconds + (isLater ? 60_000 : -60_000)
            let clock = try #require(Clock(milliseconds: UInt64(time), node: stranger.node))
            let change = Change(
                uniqueID: note, section: .notes, edits: [Edit(.text, .string("A's\n"), at: clock)], textBase: base)
            let outcome = try world.server.bag.apply(
                Push([.change(change)]), server: world.server.node, at: world.now)
            let expected = isLater ? "Start\n" : "A's\n"
            #expect(world.server.bag.textsWithLostWords(of: note) == [expected])
            #expect(outcome.lostTexts.count == 1)
        }
    }

    @Test("The same text from an unknown base loses nothing")
    func sameText() throws {
        var (world, note) = try CaseTextTests.start("Start\n")
        let stranger = ModelDevice(0xbeef)
        let clock = try #require(Clock(milliseconds: UInt64(world.now.milliseconds), node: stranger.node))
        let change = Change(uniqueID: note, section: .notes, edits: [Edit(.text, .string("Start\n"), at: clock)])
        _ = try world.server.bag.apply(Push([.change(change)]), server: world.server.node, at: world.now)
        #expect(world.server.bag.textsWithLostWords(of: note) == [])
    }

    @Test("If the merged text would be too large, the text with the smaller clock is reported")
    func tooLarge() throws {
        let half = String(repeating: "word ", count: Limits.textBytes / 10)
        var (world, note) = try CaseTextTests.start("Start\n")
        world[0].write(note, "\(half)\(half.dropLast(20))\nStart\n")
        world[1].write(note, "Start\n\(half.replacing("word", with: "term"))\(half.dropLast(20))")
        try world.settle()
        let lost = world.server.bag.textsWithLostWords(of: note)
        #expect(lost.count == 1 && lost.first?.hasPrefix("word") == true)
    }
}
