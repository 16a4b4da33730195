import HesperModel
import HesperStore
import NIOCore
import Testing

@testable import HesperPostgres

@Suite("Signal payloads")
struct SignalPayloadTests {
    private let server = ServerID(0x9f86_d081_884c_7d65)
    private let phone = NodeID(0x77c1_90ab_77c1_90ab)
    private let desk = NodeID(3)
    private let scope = ScopeID(17)

    private func payloads(_ signals: [Signal]) -> [String] { SignalPayload.payloads(of: signals, from: server) }

    @Test("Signals are read as they were written") func readBack() throws {
        let signals: [Signal] = [
            .presenceRequest, .presence(scope, []), .presence(ScopeID(.max), [phone]), .joined(scope, desk),
            .left(scope, phone),
            .sessionsChanged(scope), .committed(scope, .max),
            .message(scope, from: phone, ByteBuffer(string: #"{"data":{"é":"\n  🙂 "}}"#)),
            .importProgress(scope, ByteBuffer(string: #"{"state":"a b c"}"#)),
        ]
        let payload = payloads(signals)
        #expect(payload.count == 1)
        let read = try #require(SignalPayload.read(payload[0]))
        #expect(read.server == server)
        #expect(read.signals == signals)
        #expect(payload[0].hasPrefix("1 9f86d081884c7d65\nw\nh 17\n"))
    }

    @Test("Signals are written in order into as few payloads as possible") func packed() throws {
        let signals = (1...5_000).map { Signal.committed(ScopeID($0), $0 + 1_000_000) }
        let payloads = payloads(signals)
        #expect(payloads.dropLast().allSatisfy { $0.utf8.count > SignalPayload.limit - 20 })
        #expect(payloads.allSatisfy { $0.utf8.count <= SignalPayload.limit })
        #expect(try payloads.flatMap { try #require(SignalPayload.read($0)).signals } == signals)
    }

    @Test("Many listeners take several lines, of which the first replaces the previous listeners") func crowd() throws {
        let devices = Set((1...2_000).map { NodeID($0) })
        let read = try payloads([.presence(scope, devices)]).flatMap { try #require(SignalPayload.read($0)).signals }
        var found: Set<NodeID> = [phone]
        for signal in read {
            switch signal {
            case .presence(scope, let some): found = some
            case .joined(scope, let device): found.insert(device)
            default: Issue.record("\(signal)")
            }
        }
        #expect(found == devices)
    }

    @Test("Messages that exceed a payload or are no line of JSON are omitted") func unsendable() {
        let long = ByteBuffer(string: "{" + String(repeating: "x", count: SignalPayload.limit) + "}")
        let bad = ["", "{\n}", "{}\u{0}", "17"].map { Signal.message(scope, from: desk, ByteBuffer(string: $0)) }
        let sent = payloads([.message(scope, from: desk, long)] + bad + [.sessionsChanged(scope)])
        #expect(sent == ["1 9f86d081884c7d65\nc 17"])
        #expect(payloads(bad).isEmpty)
    }

    @Test(
        "A payload with an invalid line is rejected as a whole",
        arguments: [
            "", "\n", "garbage", "1", "1 9f86", "2 9f86d081884c7d65\nw", "1 9f86d081884c7d65 \nw",
            "1  9f86d081884c7d65\nw",
        ]
            + [
                "", "x", "w ", "w\n", "c", "c ", "c 0", "c -1", "c +1", "c 1 ", "c 1 2", "c 99999999999999999999",
                "c 0x1",
                "m 1", "m 1 0", "m 1 x", "m 1 2 3", "h", "h x", "h 1 ", "h 1 77c1", "h 1  77c190ab77c190ab", "+ 1",
                "- 1", "+ 1 zzzzzzzzzzzzzzzz", "s 1 77c190ab77c190ab", "s 1 77c190ab77c190ab x", "s 1 77 {}",
                "s 1 77c190ab77c190ab {}\t", "s 1 77c190ab77c190ab {\u{1}}", "S 1 77c190ab77c190ab {}", "ｗ",
            ].map { "1 9f86d081884c7d65\nc 1\n" + $0 })
    func refused(_ payload: String) { #expect(SignalPayload.read(payload)?.signals == nil) }

    @Test("Queued signals that are superseded are not sent") func queue() {
        var queue = SignalQueue()
        #expect(queue.isEmpty)
        queue.add(.joined(scope, desk))
        queue.add(.left(scope, desk))
        for sequence in [3, 9, 7] as [Int64] { queue.add(.committed(scope, sequence)) }
        for _ in 0..<3 { queue.add(.sessionsChanged(scope)) }
        #expect(!queue.isEmpty)
        #expect(queue.take() == [.left(scope, desk), .sessionsChanged(scope), .committed(scope, 9)])
        #expect(queue.isEmpty)
        queue.add(.joined(scope, desk))
        queue.add(.presence(scope, [phone]))
        queue.add(.joined(scope, desk))
        queue.add(.left(scope, phone))
        queue.add(.presenceRequest)
        #expect(queue.take() == [.presenceRequest, .presence(scope, [desk])])
    }

    @Test("The queue keeps a limited number of messages, the newest ones, in order") func boundedQueue() {
        var queue = SignalQueue()
        let messages = (0..<2 * SignalQueue.messageLimit).map {
            Signal.message(scope, from: desk, ByteBuffer(string: "{\($0)}"))
        }
        for message in messages { queue.add(message) }
        #expect(queue.take() == Array(messages.suffix(SignalQueue.messageLimit)))
    }
}
