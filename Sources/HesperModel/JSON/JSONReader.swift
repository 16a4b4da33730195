/// Parses JSON (RFC 8259) strictly. The text must be valid UTF-8 and contain one value, names in an object must be unique, and
/// the nesting depth is limited.
///
/// Foundation's decoders are not used, because they accept duplicate names and stop at the first invalid element. The invalid
/// fields of a push must be rejected one by one.
///
///     let json = try JSONReader.read(Array(#"{"text": "Milk"}"#.utf8))
public struct JSONReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private let depth: Int
    /// The number of values that may still be read.
    private var remainingValues: Int

    /// Parses an array of bytes.
    /// - Throws: ``Problem`` `malformed-request` with the reason and the byte offset.
    public static func read(_ bytes: [UInt8], depth: Int = Limits.depth) throws(Problem) -> JSON {
        let result: Result<JSON, Problem> = bytes.withUnsafeBufferPointer { read($0, depth: depth) }
        return try result.get()
    }

    /// Parses bytes without copying them.
    /// - Parameter values: the maximum number of values, including nested ones.
    /// - Throws: ``Problem`` `malformed-request` if the JSON is invalid; `too-large` if it has too many values.
    public static func read(
        _ bytes: UnsafeRawBufferPointer, depth: Int = Limits.depth, values: Int = .max
    ) throws(Problem) -> JSON {
        let result: Result<JSON, Problem> = bytes.withMemoryRebound(to: UInt8.self) {
            read($0, depth: depth, values: values)
        }
        return try result.get()
    }

    private static func read(
        _ bytes: UnsafeBufferPointer<UInt8>, depth: Int, values: Int = .max
    ) -> Result<JSON, Problem> {
        var reader = JSONReader(bytes: bytes, depth: depth, values: values)
        do throws(Problem) {
            let value = try reader.value(depth: 0)
            reader.skipSpace()
            guard reader.index == bytes.count else { throw reader.malformed("other text follows the value") }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, depth: Int, values: Int) {
        self.bytes = bytes
        self.depth = depth
        remainingValues = values
    }

    private func malformed(_ reason: String) -> Problem {
        Problem(.malformedRequest, "Invalid JSON: \(reason), at byte \(index).")
    }

    @inline(__always)
    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    @inline(__always)
    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || (0x09...0x0d).contains(bytes[index]) {
            // The range 0x09...0x0d includes the bytes 0x0b and 0x0c, which are not white space in JSON.
            if bytes[index] == 0x0b || bytes[index] == 0x0c { return }
            index += 1
        }
    }

    private mutating func value(depth level: Int) throws(Problem) -> JSON {
        skipSpace()
        guard remainingValues > 0 else { throw .tooManyValues }
        remainingValues -= 1
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: level + 1))
        case UInt8(ascii: "["): return .array(try array(depth: level + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return try number()
        case nil: throw malformed("a value is missing at the end")
        default: throw malformed("a value cannot begin with this character")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws(Problem) -> JSON {
        for offset in 0..<word.utf8CodeUnitCount {
            guard index + offset < bytes.count, bytes[index + offset] == word.utf8Start[offset] else {
                throw malformed("a value cannot begin with this character")
            }
        }
        index += word.utf8CodeUnitCount
        return value
    }

    private func check(depth level: Int) throws(Problem) {
        guard level <= depth else { throw malformed("arrays and objects are nested more than \(depth) levels deep") }
    }

    private mutating func array(depth level: Int) throws(Problem) -> [JSON] {
        try check(depth: level)
        index += 1
        var elements: [JSON] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            index += 1
            return elements
        }
        while true {
            elements.append(try value(depth: level))
            skipSpace()
            switch next {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "]"):
                index += 1
                return elements
            default: throw malformed("an element of an array is followed by neither , nor ]")
            }
        }
    }

    private mutating func object(depth level: Int) throws(Problem) -> JSONObject {
        try check(depth: level)
        index += 1
        var members: [JSONObject.Member] = []
        // If an object has only a few names, they are compared with each other. For more names, a set is faster.
        var names: Set<String> = []
        skipSpace()
        if next == UInt8(ascii: "}") {
            index += 1
            return JSONObject(members: members)
        }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw malformed("a member of an object has no name") }
            let start = index
            let name = try string()
            if members.count < 12 {
                if members.contains(where: { $0.name == name }) { throw duplicate(name, at: start) }
            } else {
                if names.isEmpty { names = Set(members.map(\.name)) }
                guard names.insert(name).inserted else { throw duplicate(name, at: start) }
            }
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw malformed("the name of a member is not followed by a colon") }
            index += 1
            members.append(JSONObject.Member(name: name, value: try value(depth: level)))
            skipSpace()
            switch next {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "}"):
                index += 1
                return JSONObject(members: members)
            default: throw malformed("a member of an object is followed by neither , nor }")
            }
        }
    }

    private func duplicate(_ name: String, at start: Int) -> Problem {
        Problem(
            .malformedRequest,
            "Invalid JSON: the name \"\(name.prefix(64))\" is used twice in one object, at byte \(start).")
    }
}

// MARK: - Numbers

extension JSONReader {
    private mutating func digits() -> Int {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
        return index - start
    }

    private mutating func number() throws(Problem) -> JSON {
        let start = index
        var whole = true
        if next == UInt8(ascii: "-") { index += 1 }
        let leadingZero = next == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !leadingZero || count == 1 else { throw malformed("a number has an invalid form") }
        if next == UInt8(ascii: ".") {
            whole = false
            index += 1
            guard digits() > 0 else { throw malformed("a number has no digit after its point") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            whole = false
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            guard digits() > 0 else { throw malformed("a number has no digit in its exponent") }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if whole, let integer = Int64(text), integer.magnitude <= Limits.integer.magnitude { return .integer(integer) }
        guard let double = Double(text), double.isFinite else { throw malformed("a number is too large for a double") }
        // Most programming languages do not distinguish 1.0 and 1, so both are read as the same value.
        if double.rounded() == double, abs(double) <= Double(Limits.integer) { return .integer(Int64(double)) }
        return .number(double)
    }
}

// MARK: - Strings

extension JSONReader {
    private mutating func string() throws(Problem) -> String {
        index += 1
        let start = index
        index = PlainBytes.end(in: bytes, from: start)
        if next == UInt8(ascii: "\"") {
            index += 1
            return try text(UnsafeBufferPointer(rebasing: bytes[start..<index - 1]))
        }
        var unescaped = Array(bytes[start..<index])
        while let byte = next {
            if byte == UInt8(ascii: "\"") {
                index += 1
                let result = unescaped.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
                guard let result else { throw malformed("a string is not UTF-8") }
                return result
            }
            guard byte >= 0x20 else { throw malformed("a string contains an unescaped control character") }
            index += 1
            if byte == UInt8(ascii: "\\") { try escape(&unescaped) } else { unescaped.append(byte) }
            let end = PlainBytes.end(in: bytes, from: index)
            unescaped.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[index..<end]))
            index = end
        }
        throw malformed("a string does not end")
    }

    private func text(_ utf8: UnsafeBufferPointer<UInt8>) throws(Problem) -> String {
        guard let text = String(validating: utf8, as: UTF8.self) else { throw malformed("a string is not UTF-8") }
        return text
    }

    private mutating func escape(_ out: inout [UInt8]) throws(Problem) {
        let byte = next
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte ?? 0)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0c)
        case UInt8(ascii: "n"): out.append(0x0a)
        case UInt8(ascii: "r"): out.append(0x0d)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"): out.append(contentsOf: try scalar().utf8)
        default: throw malformed("a string contains an invalid escape sequence")
        }
    }

    private mutating func unit() throws(Problem) -> UInt32 {
        guard index + 4 <= bytes.count, let unit = Hex.parse(bytes[index..<index + 4]) else {
            throw malformed("\\u is not followed by four hex digits")
        }
        index += 4
        return UInt32(unit)
    }

    private mutating func scalar() throws(Problem) -> String {
        var code = try unit()
        if (0xd800...0xdbff).contains(code), index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        {
            index += 2
            let low = try unit()
            guard (0xdc00...0xdfff).contains(low) else { throw malformed("a \\u escape is an unpaired surrogate") }
            code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw malformed("a \\u escape is an unpaired surrogate") }
        return String(Character(scalar))
    }
}

extension Problem {
    fileprivate static let tooManyValues = Problem(
        .tooLarge,
        "The JSON of a request must have at most \(Limits.jsonValues) values. Split it into several requests.",
        context: ["limit": .integer(Int64(Limits.jsonValues))])
}
