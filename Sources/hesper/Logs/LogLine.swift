import HesperModel
import Logging

/// A log line. Its values may come from clients. Newlines, control characters and quotes are escaped, so that clients can
/// neither forge log lines nor control the terminal.
///
///     2026-11-21T12:26:32.123Z error The disk is full: SQLite 13 device=9f86d081884c7d65 request=ad27a290833560cb
///     {"time": "2026-11-21T12:26:32.123Z", "level": "error", "message": "The disk is full: SQLite 13", "request": "…"}
struct LogLine {
    let date: Timestamp
    let level: Logger.Level
    let message: String
    /// The metadata of the line, sorted by name.
    let values: [(name: String, value: String)]

    /// The maximum size of the message of a line, and of each value, in bytes before escaping.
    private static let limit = 8 << 10

    init(date: Timestamp, level: Logger.Level, message: String, metadata: Logger.Metadata) {
        self.date = date
        self.level = level
        self.message = LogLine.cut(message)
        values = metadata.map { (LogLine.name($0.key), LogLine.cut("\($0.value)")) }.sorted { $0.name < $1.name }
    }

    /// Returns the name of a metadata value in the log line. The name that the library Hummingbird uses for the request ID is
    /// shortened.
    private static func name(_ key: String) -> String { key == "hb.request.id" ? "request" : key }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…"
    }

    /// The line as readable text.
    var text: String {
        var line = "\(date) \(level) "
        LogLine.append(message, to: &line)
        for (name, value) in values {
            line += " \(name)="
            let isPlain = !value.isEmpty && value.unicodeScalars.allSatisfy { $0 != "\"" && $0 != " " && $0 != "=" }
            if isPlain {
                LogLine.append(value, to: &line)
            } else {
                line += "\""
                LogLine.append(value, quoting: true, to: &line)
                line += "\""
            }
        }
        return line + "\n"
    }

    /// The line as a JSON object. All values are strings.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("time", date)
            writer.member("level", level.rawValue)
            writer.member("message", LogLine.escaped(message))
            // If a metadata value has the name of one of the members above, it is left out, so that no member occurs twice.
            for (name, value) in values where !["time", "level", "message"].contains(name) {
                writer.member(name, LogLine.escaped(value))
            }
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// Escapes invisible characters above U+007E. The JSON encoding does not escape them.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value > 0x7e && !isVisible($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.value < 0x7f || isVisible(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    /// Escapes a text that comes from a client, so that it takes one line and cannot send control sequences to the terminal.
    static func escapedForTerminal(_ text: String) -> String {
        var line = ""
        append(text, to: &line)
        return line
    }

    /// Appends a text to a line. Invisible characters and line ends are escaped, for example as `\n` or `\u{1b}`.
    private static func append(_ text: String, quoting: Bool = false, to line: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case "\\": line += "\\\\"
            case "\"" where quoting: line += "\\\""
            default:
                if isVisible(scalar) {
                    line.unicodeScalars.append(scalar)
                } else {
                    line += "\\u{\(String(scalar.value, radix: 16))}"
                }
            }
        }
    }

    /// Whether a character is visible. Control characters, direction marks and line separators are invisible.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
