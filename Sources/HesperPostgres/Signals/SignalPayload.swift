import HesperModel
import HesperStore
import NIOCore

/// Encodes signals as the text of NOTIFY payloads. After the first line, each line is a signal.
///
///     1 9f86d081884c7d65               version and sender
///     w                                asks all servers to report their listeners
///     h 17 77c190ab77c190ab …          all devices that listen to scope 17 on this server
///     + 17 90ab77c190ab77c1            a device started to listen
///     - 17 90ab77c190ab77c1            a device stopped listening
///     c 17                             check whether scope 17 and its devices still exist
///     m 17 4711                        scope 17 has reached sequence 4711
///     s 17 77c190ab77c190ab {"uni…     a message from a device of scope 17
///     i 17 {"uni…                      the progress of the import of scope 17
enum SignalPayload {
    /// The maximum size of a payload in bytes. PostgreSQL requires a payload to be shorter than 8,000 bytes (NOTIFY, payload).
    static let limit = 7_999
    /// The maximum number of devices in one line.
    private static let devicesOfLine = 200
    private static let version = "1"

    // MARK: Writing

    /// Writes signals, in order, into as few payloads as possible. A signal that is too long even for a payload of its own is
    /// omitted.
    static func payloads(of signals: [Signal], from server: ServerID) -> [String] {
        let head = "\(version) \(NodeID(server.rawValue))"
        var payloads: [String] = []
        var payload = head
        for line in signals.lazy.flatMap(lines) where head.utf8.count + 1 + line.utf8.count <= limit {
            if payload.utf8.count + 1 + line.utf8.count > limit {
                payloads.append(payload)
                payload = head
            }
            payload += "\n" + line
        }
        if payload.utf8.count > head.utf8.count { payloads.append(payload) }
        return payloads
    }

    private static func lines(of signal: Signal) -> [String] {
        switch signal {
        case .presenceRequest: return ["w"]
        case .sessionsChanged(let scope): return ["c \(scope.rawValue)"]
        case .committed(let scope, let sequence): return ["m \(scope.rawValue) \(sequence)"]
        case .joined(let scope, let device): return ["+ \(scope.rawValue) \(device)"]
        case .left(let scope, let device): return ["- \(scope.rawValue) \(device)"]
        case .presence(let scope, let devices):
            let words = devices.map { " \($0)" }
            return stride(from: 0, to: max(words.count, 1), by: devicesOfLine).map { start in
                let some = words[start..<min(start + devicesOfLine, words.count)].joined()
                return "\(start == 0 ? "h" : "+") \(scope.rawValue)\(some)"
            }
        case .message(let scope, let device, let message):
            guard isLine(message.readableBytesView) else { return [] }
            return ["s \(scope.rawValue) \(device) \(String(buffer: message))"]
        case .importProgress(let scope, let progress):
            guard isLine(progress.readableBytesView) else { return [] }
            return ["i \(scope.rawValue) \(String(buffer: progress))"]
        }
    }

    /// Whether a message can be inserted into an event stream unchanged.
    private static func isLine(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}") && bytes.allSatisfy { $0 >= 0x20 }
    }

    // MARK: Reading

    /// Reads a payload; nil if it is not a valid payload of this version.
    static func read(_ payload: String) -> (server: ServerID, signals: [Signal])? {
        var lines = payload.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard let head = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false), head.count == 2,
            head[0] == version, let server = NodeID(String(head[1]))
        else { return nil }
        var signals: [Signal] = []
        for line in lines {
            guard let read = self.signals(of: line) else { return nil }
            signals += read
        }
        return (ServerID(server.rawValue), signals)
    }

    private static func signals(of line: Substring) -> [Signal]? {
        if line == "w" { return [.presenceRequest] }
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count >= 2, let scope = number(words[1]).map(ScopeID.init) else { return nil }
        switch (words[0], words.count) {
        case ("c", 2): return [.sessionsChanged(scope)]
        case ("m", 3): return number(words[2]).map { [.committed(scope, $0)] }
        case ("s", 4):
            guard let device = NodeID(String(words[2])), isLine(words[3].utf8) else { return nil }
            return [.message(scope, from: device, ByteBuffer(substring: words[3]))]
        case ("i", 3...):
            let progress = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)[2]
            return isLine(progress.utf8) ? [.importProgress(scope, ByteBuffer(substring: progress))] : nil
        case ("h", _): return devices(line).map { [.presence(scope, Set($0))] }
        case ("+", 3...): return devices(line).map { $0.map { .joined(scope, $0) } }
        case ("-", 3...): return devices(line).map { $0.map { .left(scope, $0) } }
        default: return nil
        }
    }

    /// The devices in a line: the words after the first two.
    private static func devices(_ line: Substring) -> [NodeID]? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).dropFirst(2)
        let devices = words.compactMap { NodeID(String($0)) }
        return devices.count == words.count ? devices : nil
    }

    /// Reads a positive number in decimal digits.
    private static func number(_ word: Substring) -> Int64? {
        guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(word), number > 0 else {
            return nil
        }
        return number
    }
}
