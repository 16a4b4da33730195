import HesperModel

/// Reads `hesper.json` a value at a time, so that memory does not grow with it.
///
///     var reader = DocumentReader { try zip.read() }
///     try await reader.read { place, value in … }   // formatVersion: 1, files c0ffee00-…: "Milk.md", notes: {…}, notes: {…}
///
/// What a value is, ``JSONReader`` decides; here only the beginnings and ends of values are found.
public struct DocumentReader {
    /// Where a value stands: in a member, alone or in its list, or under a name in its object.
    public struct Place: Equatable, Sendable {
        public let member: String
        public let name: String?
    }

    private let source: () throws -> [UInt8]?
    private var bytes: [UInt8] = []
    private var index = 0

    /// Bytes of one value: more than the largest note takes, all of its text escaped.
    static let greatestValue = Limits.pushBytes

    /// - Parameter source: gives the next bytes; nil after the last.
    public init(_ source: @escaping () throws -> [UInt8]?) { self.source = source }

    /// Gives every value with its place, in the order of the document.
    /// - Throws: ``Problem`` `malformed-request`; whatever `source` and `body` throw.
    public mutating func read(_ body: (Place, JSON) async throws -> Void) async throws {
        try expect("{")
        try await members { reader, member in
            switch try reader.peek() {
            case UInt8(ascii: "["):
                reader.index += 1
                try await reader.elements { try await body(Place(member: member, name: nil), try $0.value()) }
            case UInt8(ascii: "{"):
                reader.index += 1
                try await reader.members { try await body(Place(member: member, name: $1), try $0.value()) }
            default: try await body(Place(member: member, name: nil), try reader.value())
            }
        }
        guard try peek() == nil else { throw malformed("something follows its end") }
    }

    /// The members of an object that was opened.
    private mutating func members(
        _ body: (inout DocumentReader, String) async throws -> Void
    ) async throws {
        if try skip("}") { return }
        repeat {
            guard case .string(let name) = try value() else { throw malformed("a member has no name") }
            try expect(":")
            try await body(&self, name)
        } while try skip(",")
        try expect("}")
    }

    /// The elements of a list that was opened.
    private mutating func elements(_ body: (inout DocumentReader) async throws -> Void) async throws {
        if try skip("]") { return }
        repeat { try await body(&self) } while try skip(",")
        try expect("]")
    }

    /// The value that comes next: as far as its brackets are closed, or, outside of all, up to a comma, colon or bracket.
    private mutating func value() throws -> JSON {
        guard try peek() != nil else { throw malformed("it ends too early") }
        var value: [UInt8] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        scan: while let byte = try current() {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { break scan }
                    depth -= 1
                case UInt8(ascii: ","), UInt8(ascii: ":"):
                    if depth == 0 { break scan }
                default: break
                }
            }
            value.append(byte)
            index += 1
            guard value.count <= DocumentReader.greatestValue else {
                throw malformed("a value has more than \(DocumentReader.greatestValue) bytes")
            }
        }
        return try JSONReader.read(value)
    }

    // MARK: Bytes

    /// The next byte, whatever it is; nil at the end.
    private mutating func current() throws -> UInt8? {
        while index == bytes.count {
            guard let more = try source() else { return nil }
            bytes = more
            index = 0
        }
        return bytes[index]
    }

    /// The next byte that is not white space.
    private mutating func peek() throws -> UInt8? {
        while let byte = try current() {
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            index += 1
        }
        return nil
    }

    private mutating func skip(_ character: Unicode.Scalar) throws -> Bool {
        guard try peek() == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws {
        guard try skip(character) else { throw malformed("a \(character) is missing") }
    }

    private func malformed(_ what: String) -> Problem {
        Problem(.malformedRequest, "\(ExportDocument.path) is not as an export makes it: \(what).")
    }
}
