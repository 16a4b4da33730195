import Testing

@testable import HesperModel

/// Runs `Tests/Vectors/clocks.json` (merge.md, Clocks).
@Suite("Vectors: clocks")
struct ClockVectorsTests {
    static let vectors = Result { try VectorCase.load("clocks.json") }
    static func cases(_ field: String) throws -> [VectorCase] { try vectors.get().filter { $0.has(field) } }

    @Test("Case names are unique, and each case is run by one of the tests below")
    func complete() throws {
        let all = try Self.vectors.get()
        let kinds = ["bytes", "malformed", "malformedNode", "malformedBytes", "ascending", "steps", "isAhead"]
        #expect(Set(all.map(\.testDescription)).count == all.count)
        for vector in all { #expect(kinds.filter(vector.has).count == 1, "\(vector.testDescription)") }
        for kind in kinds { #expect(try !Self.cases(kind).isEmpty, "\(kind)") }
    }

    @Test("A clock is parsed and written as text and as bytes", arguments: try cases("bytes"))
    func forms(vector: VectorCase) throws {
        let text = try vector.string("text")
        let clock = try #require(Clock(text))
        #expect(clock.milliseconds == UInt64(try vector.integer("milliseconds")))
        #expect(clock.counter == UInt16(try vector.integer("counter")))
        #expect(clock.node == (try vector.value("node")))
        #expect(clock.bytes == (try vector.bytes("bytes")))
        #expect(Clock(bytes: try vector.bytes("bytes")) == clock)
        #expect(clock.description == (vector.has("written") ? try vector.string("written") : text))
        #expect(Clock(milliseconds: clock.milliseconds, counter: clock.counter, node: clock.node) == clock)
    }

    @Test("A malformed clock is rejected", arguments: try cases("malformed"))
    func malformed(vector: VectorCase) throws {
        #expect(Clock(try vector.string("malformed")) == nil)
    }

    @Test("A malformed node is rejected", arguments: try cases("malformedNode"))
    func malformedNode(vector: VectorCase) throws {
        #expect(NodeID(try vector.string("malformedNode")) == nil)
    }

    @Test("Malformed bytes are rejected", arguments: try cases("malformedBytes"))
    func malformedBytes(vector: VectorCase) throws {
        #expect(Clock(bytes: try vector.bytes("malformedBytes")) == nil)
    }

    @Test("Clocks, their texts and their bytes have the same order", arguments: try cases("ascending"))
    func order(vector: VectorCase) throws {
        let texts = try vector.strings("ascending")
        let clocks = try texts.map { try #require(Clock($0)) }
        for index in texts.indices.dropFirst() {
            let (less, greater) = (clocks[index - 1], clocks[index])
            #expect(less < greater && !(greater < less), "\(less) < \(greater)")
            #expect(texts[index - 1].utf8.lexicographicallyPrecedes(texts[index].utf8))
            #expect(less.bytes.lexicographicallyPrecedes(greater.bytes))
        }
    }

    @Test("A tick is greater than all clocks ticked and observed", arguments: try cases("steps"))
    func ticks(vector: VectorCase) throws {
        let node: NodeID = try vector.value("node")
        var source = ClockSource(node: node)
        for step in try vector.cases("steps") {
            if let wall = try step.optional("tick", as: Timestamp.self) {
                let clock = source.tick(at: UInt64(wall.milliseconds))
                #expect(clock.description == (try step.string("clock")))
            } else if let clock = try step.optional("observe", as: Clock.self) {
                source.observe(clock)
            } else {
                source = ClockSource(node: node, last: try step.value("setBack", as: Clock.self))
            }
        }
    }

    @Test("A clock that is too far ahead is rejected", arguments: try cases("isAhead"))
    func ahead(vector: VectorCase) throws {
        let change = Change(
            uniqueID: UniqueID(high: 0, low: 1), section: .notes,
            edits: [Edit(.archived, .bool(true), at: try vector.value("clock"))])
        let context = Merge.Context(
            now: try vector.value("now"), server: NodeID(1), serverClock: nil,
            greatestClock: try vector.optional("greatest"))
        let outcome = try Merge.apply(Push([.change(change)]), to: MemoryBag(), in: context)
        let problem = outcome.receipts.first?.fields["archived"]?.problem
        #expect(problem?.slug == (try vector.bool("isAhead") ? .clockAhead : nil))
        #expect(outcome.parcels.isEmpty == (try vector.bool("isAhead")))
    }
}
