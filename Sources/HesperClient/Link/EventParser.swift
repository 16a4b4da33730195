/// Parses an event stream (`text/event-stream`, WHATWG HTML) whose bytes arrive in pieces of any size.
///
///     var parser = EventParser()
///     for chunk in chunks { for event in try parser.consume(chunk) { … } }
///
/// As the standard requires, an event without data is not returned. There is one exception: an event that has only the field
/// `retry` is returned with an empty name. The server uses such an event to state the delay before a reconnection.
package struct EventParser: Sendable {
    /// The maximum size of an event, in bytes. The largest events contain a page of changes. The server ends a page when it exceeds
    /// 256 KiB, but the last object of the page may have any size.
    package static let maximumEventBytes = 16 << 20

    /// The value of the stream's latest field `id`.
    package private(set) var lastEventID = ""
    /// The value of the stream's latest field `retry`, in milliseconds.
    package private(set) var retry: Int?

    private let maximumBytes: Int
    /// The bytes of the current line that have arrived so far.
    private var line: [UInt8] = []
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var hasRetry = false
    private var isAtStart = true
    /// Whether the last line ended with a carriage return. If a line feed follows, it belongs to the same line ending.
    private var skipsLineFeed = false

    package init(maximumEventBytes: Int = EventParser.maximumEventBytes) {
        maximumBytes = maximumEventBytes
    }

    /// The error if an event exceeds the maximum size.
    package struct EventTooLarge: Error, Equatable {
        package var maximumBytes: Int

        package init(maximumBytes: Int) { self.maximumBytes = maximumBytes }
    }

    /// Parses the next bytes of the stream.
    /// - Returns: the events that end in these bytes.
    package mutating func consume(_ bytes: [UInt8]) throws(EventTooLarge) -> [ServerEvent] {
        var events: [ServerEvent] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            if skipsLineFeed {
                skipsLineFeed = false
                if bytes[start] == UInt8(ascii: "\n") {
                    start += 1
                    continue
                }
            }
            let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            line.append(contentsOf: bytes[start..<(end ?? bytes.endIndex)])
            guard line.count + data.count <= maximumBytes else { throw EventTooLarge(maximumBytes: maximumBytes) }
            guard let end else { break }
            skipsLineFeed = bytes[end] == UInt8(ascii: "\r")
            if let event = endLine() { events.append(event) }
            start = end + 1
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        if isAtStart {
            isAtStart = false
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty { return endEvent() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        setField(String(decoding: line[..<colon], as: UTF8.self), value)
        return nil
    }

    private mutating func setField(_ field: String, _ value: ArraySlice<UInt8>) {
        switch field {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            hasData = true
            data.append(contentsOf: value)
        case "id" where !value.contains(0): lastEventID = String(decoding: value, as: UTF8.self)
        case "retry":
            guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }),
                let milliseconds = Int(String(decoding: value, as: UTF8.self))
            else { return }
            retry = milliseconds
            hasRetry = true
        default: break  // A comment, whose field name is empty, or an unknown field.
        }
    }

    private mutating func endEvent() -> ServerEvent? {
        defer {
            name = ""
            data = []
            hasData = false
            hasRetry = false
        }
        if hasData { return ServerEvent(name: name.isEmpty ? "message" : name, data: data, retry: retry) }
        return hasRetry ? ServerEvent(name: "", data: [], retry: retry) : nil
    }
}
