/// Writes JSON into a byte buffer. Values that are given as raw bytes are not validated.
///
///     var writer = JSONWriter()
///     writer.object { $0.member("text", "Milk") }
///     writer.bytes   // {"text":"Milk"}
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    // MARK: Structure

    public mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        try body(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    public mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
        try body(&self)
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes the name of a member. Its value must be written next.
    public mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    public mutating func string(_ value: String) {
        separate()
        quote(value)
    }

    public mutating func integer(_ value: Int64) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    public mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes bytes that are already valid JSON: one value, or several values separated by commas.
    public mutating func raw(_ value: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: value)
    }

    public mutating func id(_ value: UniqueID) { quoted { value.append(to: &$0) } }
    public mutating func clock(_ value: Clock) { quoted { value.append(to: &$0) } }
    public mutating func date(_ value: Timestamp) { quoted { value.append(to: &$0) } }

    public mutating func write(_ value: JSON) {
        switch value {
        case .null:
            separate()
            bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .number(let value):
            separate()
            bytes.append(contentsOf: value.description.utf8)
        case .string(let value): string(value)
        case .array(let elements):
            array { writer in
                for element in elements { writer.write(element) }
            }
        case .object(let object):
            self.object { writer in
                for member in object.members {
                    writer.name(member.name)
                    writer.write(member.value)
                }
            }
        }
    }

    // MARK: Members

    public mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    public mutating func member(_ name: String, _ value: Int64) {
        self.name(name)
        integer(value)
    }

    public mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    public mutating func member(_ name: String, _ value: UniqueID) {
        self.name(name)
        id(value)
    }

    public mutating func member(_ name: String, _ value: Clock) {
        self.name(name)
        clock(value)
    }

    public mutating func member(_ name: String, _ value: Timestamp) {
        self.name(name)
        date(value)
    }

    public mutating func member(_ name: String, _ value: JSON) {
        self.name(name)
        write(value)
    }

    // MARK: Strings

    private mutating func quoted(_ body: (inout [UInt8]) -> Void) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        body(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func quote(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { utf8 in
            // Bytes that need no escape are copied together, up to the next byte that needs an escape.
            var start = 0
            while true {
                let end = PlainBytes.end(in: utf8, from: start)
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<end]))
                guard end < utf8.count else { break }
                escape(utf8[end])
                start = end + 1
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        default:
            bytes.append(UInt8(ascii: "u"))
            Hex.append(UInt64(byte), digits: 4, to: &bytes)
        }
    }
}
