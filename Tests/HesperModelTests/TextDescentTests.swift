import Testing

@testable import HesperModel

/// A server with one note, to which texts are pushed.
struct TextDesk {
    private(set) var bag = MemoryBag()
    private(set) var receipts: [Receipt] = []
    private let server = NodeID(0x5e_7e_00)
    private let now = Timestamp(clamping: 1_000_000)
    let note = UniqueID(high: 0x4000, low: 0x8000_0000_0000_0001)

    /// A clock with this time.
    static func clock(_ time: UInt64, _ node: UInt64) -> Clock { Clock(time: time << 16, node: NodeID(node)) }

    /// Starts with a note that has a text.
    init(_ text: String, at clock: Clock) throws {
        let edits = [Edit(.creationDate, .date(now), at: nil), Edit(.text, .string(text), at: clock)]
        receipts = try bag.apply(
            Push([.change(Change(uniqueID: note, section: .notes, edits: edits, textBase: nil, textAfter: []))]),
            server: server,
            at: now
        ).receipts
    }

    mutating func push(
        _ text: String, _ clock: Clock, base: Clock? = nil, after: [Clock]? = [], value: String? = nil
    ) throws {
        let change = Change(
            uniqueID: note, section: .notes, edits: [Edit(.text, .string(text), at: clock)], textBase: base,
            textBaseValue: value, textAfter: after)
        receipts = try bag.apply(Push([.change(change)]), by: clock.node, server: server, at: now).receipts
    }

    /// Gives a text back to a restored server.
    mutating func giveBack(_ text: String, _ clock: Clock) throws { try push(text, clock, base: clock) }

    mutating func restoreHere() { bag.restoredSequence = bag.sequence }

    var text: String {
        if case .entity(.note(let note))? = bag[note] { note.text } else { "" }
    }

    var currentClock: Clock? {
        if case .entity(.note(let note))? = bag[note] { note.textClock } else { nil }
    }

    /// The receipt field of the last pushed text.
    var field: Receipt.Field? { receipts.first?.fields["text"] }

    /// The texts in the history.
    var history: [Value] { bag.history(of: note) }
}

/// The descent of a text is what its push states, in any order of pushes (merge.md, Text).
@Suite("Descent of texts")
struct TextDescentTests {
    private func c(_ time: UInt64, _ node: UInt64 = 0xa) -> Clock { TextDesk.clock(time, node) }

    struct Row: CustomTestStringConvertible, Sendable {
        let base: String
        let first: String
        let second: String
        var testDescription: String {
            "\(base.debugDescription), \(first.debugDescription), \(second.debugDescription)"
        }
    }

    static let rows = [
        Row(base: "Milk", first: "Milk and br", second: "Milk and bread"),
        Row(
            base: "Dear Ann,", first: "Dear Ann,\nI was in Paris yesterday and",
            second: "Dear Ann,\nI was in Rome the other day, and saw"),
        Row(base: "x\n", first: "x\nTodo buy milk\n", second: "x\n"),
        Row(base: "keep me", first: "keep", second: "keep me"),
    ]

    @Test("Case 34: two pushes of one device arrive in reverse order: the last text wins", arguments: rows)
    func reordered(row: Row) throws {
        var desk = try TextDesk(row.base, at: c(1))
        try desk.push(row.second, c(3), base: c(1), after: [c(2)])
        try desk.push(row.first, c(2), base: c(1))
        #expect(desk.text == row.second && desk.field?.outcome == .superseded)
        #expect(desk.history.contains(.string(row.first)))
    }

    @Test(
        "Case 35: a response is lost, and the next push has another node: the text is not duplicated", arguments: rows)
    func signedInAgain(row: Row) throws {
        var desk = try TextDesk(row.base, at: c(1))
        try desk.push(row.first, c(2), base: c(1))
        try desk.push(row.second, c(3, 0xf), base: c(1), after: [c(2)])
        #expect(desk.text == row.second && desk.field == nil)
    }

    @Test("A base that the server lacks, sent along, with a clock greater than the current one: both texts are kept")
    func foreignBase() throws {
        for isRestored in [true, false] {
            var desk = try TextDesk("base\n", at: c(1))
            if isRestored { desk.restoreHere() }
            try desk.push("base\nA line\n", c(2), base: c(1))
            try desk.push("base\nC line\nB line\n", c(9, 0xb), base: c(8, 0xc), value: "base\nC line\n")
            #expect(desk.text.contains("A line\n") && desk.text.contains("B line\n"))
            #expect(desk.field?.outcome == .merged)
            #expect(desk.text.contains("C line\n") == isRestored)
            // If the origin of the base is unknown, its words are kept in the history without a time limit.
            #expect(desk.bag.textsWithLostWords(of: desk.note) == (isRestored ? [] : ["base\nC line\n"]))
        }
    }

    @Test("Case 36: a line is given back to a restored server, in either order of syncs")
    func givenBack() throws {
        for order in [[0, 1], [1, 0]] {
            var desk = try TextDesk("base\n", at: c(1))
            desk.restoreHere()
            for device in order {
                if device == 0 {
                    try desk.giveBack("base\nA line\n", c(2))
                } else {
                    try desk.push("base\nB line\n", c(5, 0xb), base: c(1))
                }
            }
            #expect(desk.text == "base\nA line\nB line\n")
        }
    }

    @Test("Two texts given back after a restore, in either order: the last one wins")
    func generations() throws {
        for order in [[0, 1], [1, 0]] {
            var desk = try TextDesk("Dear Ann,", at: c(1))
            desk.restoreHere()
            let texts = ["Dear Ann,\nI was in Paris yesterday and", "Dear Ann,\nI was in Rome the other day, and saw"]
            for index in order { try desk.giveBack(texts[index], c(2 + UInt64(index))) }
            #expect(desk.text == texts[1])
        }
    }

    @Test("A second restore starts a new chain")
    func restoredTwice() throws {
        var desk = try TextDesk("one\n", at: c(1))
        desk.restoreHere()
        try desk.giveBack("one\ntwo\n", c(4))
        desk.restoreHere()
        try desk.giveBack("one\ntwo\nthree\n", c(3, 0xb))
        #expect(desk.text == "one\ntwo\nthree\n")
    }

    @Test("A text that was only merged is pushed again with its original base")
    func onlyMerged() throws {
        var desk = try TextDesk("a\n", at: c(1))
        try desk.push("a\nOther's line\n", c(2, 0xb), base: c(1))
        desk.restoreHere()
        try desk.push("a\nmine\n", c(3), base: c(1))
        #expect(desk.text == "a\nOther's line\nmine\n")
    }

    @Test("A text with a clock from before the restore is given back")
    func earlyClock() throws {
        var desk = try TextDesk("a\n", at: c(5))
        try desk.push("a\nb\n", c(6), base: c(5))
        desk.restoreHere()
        try desk.giveBack("a\nb\nearly clock\n", c(3, 0xb))
        #expect(desk.text == "a\nb\nearly clock\n")
    }

    @Test("A text given back to a server that was never restored: the greater clock wins")
    func unknownRestore() throws {
        var desk = try TextDesk("a\n", at: c(1))
        try desk.giveBack("a\nb\n", c(3, 0xb))
        #expect(desk.text == "a\nb\n")
        try desk.giveBack("a\nc\n", c(2, 0xc))
        #expect(desk.text == "a\nb\n" && desk.history.contains(.string("a\nc\n")))
        #expect(desk.bag.textsWithLostWords(of: desk.note) == ["a\n", "a\nc\n"])
    }

    @Test("A word typed and removed with a greater clock, and another device's line")
    func takenBack() throws {
        var desk = try TextDesk("a b\n", at: c(1))
        try desk.push("a b\nX\n", c(2), base: c(1))
        try desk.push("a b\n", c(9, 0xb), base: c(1))
        #expect(desk.text == "a b\nX\n")
    }

    @Test("An earlier text with a greater clock arrives late")
    func pastArrivesLate() throws {
        var desk = try TextDesk("a\n", at: c(1))
        try desk.push("a\nfinal\n", c(2), base: c(1), after: [c(8)])
        try desk.push("a\nfin", c(8), base: c(1))
        #expect(desk.text == "a\nfinal\n" && desk.field?.outcome == .superseded)
        #expect((desk.currentClock ?? c(0)) > c(8))
    }

    @Test("16 unanswered texts, of which the first arrives last")
    func manyUnanswered() throws {
        var desk = try TextDesk("x\n", at: c(1))
        let sent = (2...16).map { c($0) }
        try desk.push("x\nthe end of it\n", c(17), base: c(1), after: sent)
        try desk.push("x\nthe beg", c(2), base: c(1))
        #expect(desk.text == "x\nthe end of it\n")
    }

    @Test("A text or a deletion with more than 16 clocks in textAfter is rejected, but not the rest of the push")
    func tooManyNamedTextsAreRejected() throws {
        for count in [Limits.textAfter, Limits.textAfter + 1] {
            let clocks = (1...count).map { "\"\(c(UInt64($0)))\"" }.joined(separator: ", ")
            let (note, other) = (UniqueID.random(), UniqueID.random())
            let json = """
                {"notes": [{"uniqueID": "\(note)", "text": "x", "archived": true, "textAfter": [\(clocks)],
                    "clocks": {"text": "\(c(99))", "archived": "\(c(99))"}}],
                 "deletedObjects": [{"uniqueID": "\(other)", "objectType": "note", "textSeen": "", "textAfter": [\(clocks)]}]}
                """
            let push = try PushReader.read(JSONReader.read(Array(json.utf8)))
            var bag = MemoryBag()
            let receipts = try bag.apply(push, server: NodeID(1), at: Timestamp(clamping: 1_000_000)).receipts
            let isRejected = count > Limits.textAfter
            #expect(receipts.map(\.status) == (isRejected ? [.rejected, .rejected] : [.applied, .applied]))
            if isRejected {
                // A text with unreadable descent would be merged with its own past.
                for field in ["text", "textAfter"] {
                    #expect(receipts[0].fields[field]?.problem?.slug == .invalidField)
                }
                #expect(receipts[1].problem?.slug == .invalidField)
            }
            guard case .entity(.note(let current))? = bag[note] else {
                Issue.record("the note does not exist")
                continue
            }
            #expect(current.archived && current.text == (isRejected ? "" : "x"))
        }
    }

    @Test("A base is given back after its descendant")
    func baseGivenBackLate() throws {
        for value in ["x\none\n", nil] {
            var desk = try TextDesk("x\n", at: c(1))
            desk.restoreHere()
            try desk.push("x\none two\n", c(4, 0xb), base: c(3), value: value)
            try desk.giveBack("x\none\n", c(3))
            #expect(desk.text == "x\none two\n")
        }
    }

    @Test("A text that replaces an unread text is reported as a loss if words are gone")
    func replacedUnread() throws {
        for hasRead in [true, false] {
            var desk = try TextDesk("a b\n", at: c(1))
            var change = Change(
                uniqueID: desk.note, section: .notes, edits: [Edit(.text, .string("a\n"), at: c(2))], textBase: c(1),
                textAfter: [])
            change.replacesUnread = !hasRead
            try desk.push(change)
            #expect(desk.text == "a\n")
            #expect(desk.bag.textsWithLostWords(of: desk.note) == (hasRead ? [] : ["a b\n"]))
        }
    }

    @Test("The receipt lists superseded words with their location")
    func supersededWords() throws {
        var desk = try TextDesk("a red car\n", at: c(1))
        try desk.push("a green car\n", c(5, 0xb), base: c(1))
        try desk.push("a blue car\n", c(2), base: c(1))
        #expect(desk.text == "a green car\n")
        #expect(desk.field?.superseded == [TextMerge.Superseded(text: "blue", location: 2, length: 5)])
    }

    @Test("The receipt lists all of a text that could not be merged")
    func supersededWhole() throws {
        var desk = try TextDesk("a red car\n", at: c(5))
        try desk.push("something else", c(2, 0xb))
        #expect(desk.field?.superseded == [TextMerge.Superseded(text: "something else", location: 0, length: 10)])
    }

    @Test(
        "One device: the last text wins whatever is reordered, repeated, delayed or lost",
        arguments: [1, UInt64.random(in: 0...UInt64(UInt32.max))])
    func alone(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for round in 0..<100 {
            var typist = try Typist(desk: TextDesk("start line\n", at: c(1)))
            for _ in 0..<random.number(3..<40) { try typist.step(&random) }
            try typist.end(&random)
            #expect(typist.desk.text == typist.text, "seed \(seed), round \(round)")
        }
    }
}

extension TextDesk {
    mutating func push(_ change: Change) throws {
        receipts = try bag.apply(Push([.change(change)]), server: server, at: now).receipts
    }
}

/// A device that types, on a network that loses, delays and repeats pushes.
private struct Typist {
    var desk: TextDesk
    private(set) var text = "start line\n"
    private var node: UInt64 = 0xa
    private var time: UInt64 = 1
    private var words = 0
    private var base = TextDesk.clock(1, 0xa)
    private var unanswered: [Sent] = []
    private var network: [Sent] = []

    private struct Sent {
        let text: String
        let clock: Clock
        let base: Clock
        let after: [Clock]
    }

    init(desk: TextDesk) { self.desk = desk }

    mutating func step(_ random: inout SeededGenerator) throws {
        edit(&random)
        let sent = next()
        switch random.number(0..<20) {
        case 0..<5: network.append(sent)
        case 5..<8: break
        case 8..<11: try deliver(sent)
        default:
            try deliver(sent)
            unanswered = []
            base = desk.text == text ? desk.currentClock ?? sent.clock : sent.clock
        }
        if random.number(0..<10) < 3, let delayed = network.randomElement(using: &random) { try deliver(delayed) }
        if random.number(0..<10) == 0 { node += 1 }
    }

    mutating func end(_ random: inout SeededGenerator) throws {
        // If the maximum number of texts is unanswered, the last one is sent again.
        if unanswered.count == Limits.textAfter, let last = unanswered.last {
            try deliver(last)
            (unanswered, base) = ([], last.clock)
        }
        try deliver(next())
        for delayed in network.shuffled(using: &random) { try deliver(delayed) }
    }

    private mutating func next() -> Sent {
        if unanswered.count == Limits.textAfter, let last = unanswered.last { return last }
        time += 1
        let sent = Sent(
            text: text, clock: TextDesk.clock(time, node), base: base, after: unanswered.map(\.clock))
        unanswered.append(sent)
        return sent
    }

    private mutating func deliver(_ sent: Sent) throws {
        try desk.push(sent.text, sent.clock, base: sent.base, after: sent.after)
    }

    private mutating func edit(_ random: inout SeededGenerator) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let line = random.number(0..<lines.count)
        words += 1
        switch random.number(0..<10) {
        case 0..<4: lines[line] += " w\(words)"
        case 4..<6: lines.insert("w\(words)", at: line)
        case 6..<8 where lines.count > 1: lines.remove(at: line)
        default: lines[line] = String(lines[line].dropLast())
        }
        text = lines.joined(separator: "\n")
    }
}
