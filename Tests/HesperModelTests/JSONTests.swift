import Testing

@testable import HesperModel

/// The JSON reader accepts exactly the JSON of RFC 8259.
@Suite("JSON")
struct JSONTests {
    private static func read(_ text: String) throws(Problem) -> JSON { try JSONReader.read(Array(text.utf8)) }

    @Test(
        "Valid JSON is read, and written in its shortest form",
        arguments: [
            (" {} ", "{}"), ("[ ]", "[]"), ("[1,2 ,3]", "[1,2,3]"), (#"{"a":{"b":[null,true,false]}}"#, nil),
            ("0", nil), ("-0", "0"), ("1.0", "1"), ("1e3", "1000"), ("-1.5E-3", "-0.0015"), ("0.1", nil),
            ("9007199254740991", nil), ("-9007199254740991", nil), (#""""#, nil), (#""\u0041\/\u00e9""#, #""A/é""#),
            (#""\ud83c\udf0d""#, "\"\u{1f30d}\""), (#""\b\f\n\r\t\"\\""#, nil), (#""\u0000\u001f""#, nil),
            ("\"\u{2028}\u{7f}\"", nil), ("\r\n\t \"x\" \r\n", "\"x\""),
        ] as [(String, String?)])
    func good(text: String, written: String?) throws {
        #expect(String(decoding: try JSONTests.read(text).bytes, as: UTF8.self) == written ?? text)
    }

    @Test(
        "Invalid JSON is rejected with the reason and the location",
        arguments: [
            ("", "at byte 0"), ("{", "at byte 1"), ("[1,]", "at byte 3"), ("[1 2]", "at byte 3"),
            (#"{"a" 1}"#, "followed by a colon"), (#"{"a":1,}"#, "no name"), (#"{a:1}"#, "no name"),
            ("'a'", "at byte 0"),
            ("01", "a number"), ("+1", "at byte 0"), ("1.", "after its point"), (".5", "at byte 0"),
            ("1e", "its exponent"), ("1e999", "too large"), ("NaN", "at byte 0"), ("tru", "at byte 0"),
            ("\"a\nb\"", "control character"), (#""a"#, "does not end"), (#""\x""#, "escape sequence"),
            (#""\u12""#, "four hex digits"), (#""\ud83c""#, "an unpaired surrogate"),
            (#""\udf0d""#, "an unpaired surrogate"),
            (#""\ud83c\u0041""#, "an unpaired surrogate"), ("1 2", "other text follows"), ("\u{feff}1", "at byte 0"),
            ("\u{0b}1", "at byte 0"), (#"{"a":1,"a":1}"#, "is used twice"), (#"{"a":1,"\u0061":1}"#, "is used twice"),
            ("// c\n1", "at byte 0"),
        ])
    func bad(text: String, message: String) {
        #expect {
            try JSONTests.read(text)
        } throws: { error in
            guard let problem = error as? Problem else { return false }
            return problem.slug == .malformedRequest && problem.detail.contains(message)
        }
    }

    @Test("A duplicate name is found among many names")
    func manyNames() throws {
        let names = (0..<100).map { "\"name\($0)\":\($0)" }
        #expect(throws: Never.self) { try JSONTests.read("{\(names.joined(separator: ","))}") }
        #expect(throws: Problem.self) { try JSONTests.read("{\((names + ["\"name7\":7"]).joined(separator: ","))}") }
    }

    @Test(
        "Bytes that are not UTF-8 are rejected", arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: Problem.self) { try JSONReader.read([0x22] + bytes + [0x22]) }
        #expect(throws: Problem.self) { try JSONReader.read(Array("\"\\n".utf8) + bytes + [0x22]) }
    }

    @Test("Nesting deeper than the limit is rejected")
    func depth() {
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        #expect(throws: Never.self) { try JSONTests.read(nested(Limits.depth)) }
        #expect(throws: Problem.self) { try JSONTests.read(nested(Limits.depth + 1)) }
        #expect(throws: Problem.self) { try JSONTests.read(nested(100_000)) }
    }

    @Test("Any string is preserved", arguments: 1...3)
    func strings(run: Int) throws {
        var random = SeededGenerator(for: "strings \(run)")
        let parts = [
            "a", "milk ", "\"", "\\", "\u{0}", "\u{1f}", "\u{20}", "\u{21}", "\n", "é", "世", "\u{1f30d}", "\u{7f}",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0..<40, using: &random))
                .map { _ in parts[Int.random(in: 0..<parts.count, using: &random)] }.joined()
            #expect(try JSONReader.read(JSON.string(text).bytes) == .string(text), "seed \(random.seed)")
            #expect(PlainBytes.containsNUL(text) == text.unicodeScalars.contains("\u{0}"), "seed \(random.seed)")
        }
    }

    @Test("Every byte at every offset of a word is recognized as plain or to be escaped")
    func plainBytes() {
        for byte in UInt8.min ... .max {
            for offset in 0..<20 {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
                bytes[offset] = byte
                let isPlain = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                #expect(bytes.withUnsafeBufferPointer { PlainBytes.end(in: $0, from: 0) } == (isPlain ? 20 : offset))
            }
        }
    }
}
