import HesperModel
import Logging

/// One line of the log. What clients send can be part of it: no newline, no control character and no quote of theirs comes
/// through as what it is, so that nobody writes a line of their own, nor moves a terminal's cursor.
///
///     2026-11-21T12:26:32.123Z error The disk is full: SQLite 13 device=9f86d081884c7d65 request=ad27a290833560cb
///     {"time": "2026-11-21T12:26:32.123Z", "level": "error", "message": "The disk is full: SQLite 13", "request": "…"}
struct LogLine {
    let date: Timestamp
    let level: Logger.Level
    let message: String
    /// What the line is about, by name.
    let values: [(name: String, value: String)]

    /// What it may have in bytes, before quoting: an error may be as long as what somebody sent.
    private static let limit = 8 << 10

    init(date: Timestamp, level: Logger.Level, message: String, metadata: Logger.Metadata) {
        self.date = date
        self.level = level
        self.message = LogLine.cut(message)
        values = metadata.map { (LogLine.name($0.key), LogLine.cut("\($0.value)")) }.sorted { $0.name < $1.name }
    }

    /// Hummingbird's word for the request's ID is a long one.
    private static func name(_ key: String) -> String { key == "hb.request.id" ? "request" : key }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self) + "…"
    }

    /// For people.
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

    /// For programs: an object of strings.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            writer.member("time", date)
            writer.member("level", level.rawValue)
            writer.member("message", LogLine.seen(message))
            // Names that the line has itself stand once.
            for (name, value) in values where !["time", "level", "message"].contains(name) {
                writer.member(name, LogLine.seen(value))
            }
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// JSON itself escapes what is below U+0020, and nothing beyond.
    private static func seen(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value > 0x7e && !isSeen($0) }) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.value < 0x7f || isSeen(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }

    /// Backslashes stand for what would not be seen, or would end the line: `\n`, `\u{1b}`.
    private static func append(_ text: String, quoting: Bool = false, to line: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            case "\t": line += "\\t"
            case "\\": line += "\\\\"
            case "\"" where quoting: line += "\\\""
            default:
                if isSeen(scalar) {
                    line.unicodeScalars.append(scalar)
                } else {
                    line += "\\u{\(String(scalar.value, radix: 16))}"
                }
            }
        }
    }

    /// Neither control characters nor those that turn the direction of writing, nor other lines' ends.
    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
