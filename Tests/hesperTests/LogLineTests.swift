import Foundation
import HesperModel
import Logging
import Testing

@testable import hesper

/// Text sent by clients can neither forge nor split log lines.
@Suite struct LogLineTests {
    private static let date = Timestamp(clamping: 1_795_000_000_123)

    private func line(_ message: String, _ metadata: Logger.Metadata = [:], _ level: Logger.Level = .error) -> LogLine {
        LogLine(date: LogLineTests.date, level: level, message: message, metadata: metadata)
    }

    @Test func textFormat() {
        let line = line("answered", ["hb.request.id": "r1", "path": "/v1/notes", "status": "200"], .debug)
        #expect(line.text == "\(LogLineTests.date) debug answered path=/v1/notes request=r1 status=200\n")
        #expect(self.line("The disk is full").text == "\(LogLineTests.date) error The disk is full\n")
    }

    @Test func jsonFormat() throws {
        let line = line("answered", ["hb.request.id": "r1", "path": "/v1/a\"b", "count": "\(3)"])
        let json = try JSONReader.read(line.json.dropLast())
        #expect(
            json
                == .object(
                    JSONObject([
                        ("time", .string(LogLineTests.date.description)), ("level", "error"), ("message", "answered"),
                        ("count", "3"), ("path", "/v1/a\"b"), ("request", "r1"),
                    ])))
        #expect(line.json.last == UInt8(ascii: "\n"))
    }

    @Test func metadataCannotReplaceMembersOfTheLine() throws {
        let json = try JSONReader.read(
            line("original", ["message": "another", "level": "info", "time": "0"]).json.dropLast())
        guard case .object(let object) = json else {
            Issue.record("\(json)")
            return
        }
        #expect(object.members.count == 3)
        #expect(object["message"] == "original")
    }

    private static let hostile = [
        "a\n2026-11-21T00:00:00.000Z error forged", "a\r\nforged", "\u{1b}[2J\u{1b}]0;title\u{7}", "a\u{0}b",
        "\u{9b}31m",
        "left\u{202e}thgir", "next\u{85}line", "next\u{2028}line", "\"} , {\"level\": \"info", "back\\slash",
        "tab\tbed",
        " request=forged", "\u{feff}",
    ]

    @Test(arguments: hostile) func hostileTextStaysInOneLine(_ text: String) throws {
        for line in [
            line(text), line("answered", ["path": .string(text)]), line("answered", ["x": .array([.string(text)])]),
        ] {
            for bytes in [Array(line.text.utf8), line.json] {
                let written = String(decoding: bytes, as: UTF8.self)
                #expect(written.hasSuffix("\n"))
                let isVisible = written.dropLast().unicodeScalars.allSatisfy {
                    ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                }
                #expect(isVisible, "\(written.debugDescription)")
            }
            _ = try JSONReader.read(line.json.dropLast())
        }
    }

    /// Values with spaces are quoted, so that they cannot add names.
    @Test func ambiguousValuesAreQuoted() {
        #expect(line("x", ["path": "/a request=forged"]).text.hasSuffix(#" x path="/a request=forged""# + "\n"))
        #expect(line("x", ["path": #"/a" b"#]).text.hasSuffix(#" x path="/a\" b""# + "\n"))
        #expect(line("x", ["path": ""]).text.hasSuffix(#" x path="""# + "\n"))
    }

    @Test func lineSizeIsLimited() {
        let long = String(repeating: "é", count: 100_000)
        let line = line(long, ["path": .string(long)])
        #expect(line.text.utf8.count < 20_000)
        #expect(line.json.count < 20_000)
    }
}
