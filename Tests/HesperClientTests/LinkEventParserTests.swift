import HesperClient
import Testing

@Suite struct LinkEventParserTests {
    private func events(_ text: String, split: Int? = nil) throws -> [ServerEvent] {
        var parser = EventParser()
        let bytes = Array(text.utf8)
        guard let split else { return try parser.consume(bytes) }
        return try stride(from: 0, to: bytes.count, by: split).flatMap { start in
            try parser.consume(Array(bytes[start..<min(start + split, bytes.count)]))
        }
    }

    private func event(_ name: String, _ data: String, retry: Int? = nil) -> ServerEvent {
        ServerEvent(name: name, data: Array(data.utf8), retry: retry)
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func everySplitGivesTheSameEvents(lineEnd: String) throws {
        let text = """
            \u{feff}event: listeners
            data: {"listeners":1}

            : a comment
            event: changes
            data: {"a":
            data:  "ü🎉"}
            id: AQDi

            data

            retry: 3000
            : the server is shutting down


            """.replacing("\n", with: lineEnd)
        let expected = [
            event("listeners", #"{"listeners":1}"#), event("changes", "{\"a\":\n \"ü🎉\"}"), event("message", ""),
            event("", "", retry: 3000),
        ]
        #expect(try events(text) == expected)
        for split in 1...text.utf8.count { #expect(try events(text, split: split) == expected) }
    }

    @Test func idAndRetryAreKept() throws {
        var parser = EventParser()
        let found = try parser.consume(Array("retry: 250\nid: a\ndata: 1\n\nid: b\0c\ndata: 2\n\n".utf8))
        #expect(found == [event("message", "1", retry: 250), event("message", "2", retry: 250)])
        #expect(parser.lastEventID == "a")
        #expect(parser.retry == 250)
    }

    @Test func invalidFieldsAreIgnored() throws {
        let text = "retry: 12s\nretry:\nretry: -1\nretry: 99999999999999999999\nunknown: x\nevent\ndata:x\n\n"
        #expect(try events(text) == [event("message", "x")])
    }

    @Test func anEventWithoutDataIsNotReturned() throws {
        #expect(try events("event: changes\nid: x\n\ndata: 1\n\n") == [event("message", "1")])
    }

    @Test func anIncompleteEventIsNotReturned() throws {
        #expect(try events("data: 1\n").isEmpty)
        #expect(try events("data: 1\n\ndata: 2").count == 1)
    }

    @Test func tooLargeEventsAreRefused() throws {
        var parser = EventParser(maximumEventBytes: 100)
        let line = Array("data: \(String(repeating: "x", count: 40))\n".utf8)
        #expect(try parser.consume(line + [10]).count == 1)
        #expect(try parser.consume(line).isEmpty)
        #expect(try parser.consume(line).isEmpty)
        #expect(throws: EventParser.EventTooLarge(maximumBytes: 100)) { try parser.consume(line) }
    }

    @Test func aLineWithoutEndIsRefusedEarly() throws {
        var parser = EventParser(maximumEventBytes: 100)
        #expect(try parser.consume([UInt8](repeating: 0x78, count: 100)).isEmpty)
        #expect(throws: EventParser.EventTooLarge.self) { try parser.consume([0x78]) }
    }
}
