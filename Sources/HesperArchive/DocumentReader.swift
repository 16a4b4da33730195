import HesperModel

/// Reads a document such as `hesper.json` one value at a time, so that memory use does not depend on the size of the document.
///
///     var reader = DocumentReader { try zip.read() }
///     try await reader.read { location, value in … }
///
/// The closure is called once for each value. For an export, it receives, for example:
/// - the member `formatVersion` and the value 1
/// - the member `files`, the name `c0ffee00-…` and the value "Milk.md"
/// - the member `notes` and one note as the value
///
/// This type only finds where values begin and end. ``JSONReader`` parses them.
public struct DocumentReader {
    /// The location of a value: the name of the top-level member that contains the value and, if that member is an object, the name
    /// of the value within that object. If that member is not an object, `name` is nil.
    public struct Location: Equatable, Sendable {
        public let member: String
        public let name: String?
    }

    private let source: () throws -> [UInt8]?
    /// The name of the document, for error messages.
    private let name: String
    private var bytes: [UInt8] = []
    private var index = 0

    /// The maximum size of a value in bytes. It is larger than the largest possible note, even if every character of its text is
    /// escaped.
    static let maximumValueBytes = Limits.pushBytes

    /// Creates a reader for the document `hesper.json` of an export.
    /// - Parameter source: returns the next bytes; nil when there are no more bytes.
    public init(_ source: @escaping () throws -> [UInt8]?) { self.init(name: ExportDocument.path, source) }

    /// Creates a reader for a document of another app.
    /// - Parameter name: the name of the document, for error messages.
    public init(name: String, _ source: @escaping () throws -> [UInt8]?) { (self.name, self.source) = (name, source) }

    /// Passes every value and its location to `body`, in the order of the document.
    /// - Throws: ``Problem`` `malformed-request` if the document is invalid, or an error of `source` or `body`.
    public mutating func read(_ body: (Location, JSON) async throws -> Void) async throws {
        try await readEach { try await body($0, try $1.get()) }
    }

    /// Passes every value and its location to `body`, in the order of the document. A value that is invalid JSON or too large is
    /// passed as a failure, as long as the document around it can be read.
    public mutating func readEach(_ body: (Location, Result<JSON, Problem>) async throws -> Void) async throws {
        try expect("{")
        try await members { reader, member in
            switch try reader.peek() {
            case UInt8(ascii: "["):
                reader.index += 1
                try await reader.elements { try await body(Location(member: member, name: nil), try $0.value()) }
            case UInt8(ascii: "{"):
                reader.index += 1
                try await reader.members { try await body(Location(member: member, name: $1), try $0.value()) }
            default: try await body(Location(member: member, name: nil), try reader.value())
            }
        }
        guard try peek() == nil else { throw malformed("data follows the end of the document") }
    }

    /// Reads the members of an object whose opening brace has been consumed.
    private mutating func members(
        _ body: (inout DocumentReader, String) async throws -> Void
    ) async throws {
        if try skip("}") { return }
        repeat {
            guard case .string(let name) = try value().get() else { throw malformed("a member name must be a string") }
            try expect(":")
            try await body(&self, name)
        } while try skip(",")
        try expect("}")
    }

    /// Reads the elements of an array whose opening bracket has been consumed.
    private mutating func elements(_ body: (inout DocumentReader) async throws -> Void) async throws {
        if try skip("]") { return }
        repeat { try await body(&self) } while try skip(",")
        try expect("]")
    }

    /// Reads the next value. The bytes of an array or object end with its closing bracket. The bytes of any other value end before
    /// a comma, a colon or a closing bracket.
    private mutating func value() throws -> Result<JSON, Problem> {
        guard try peek() != nil else { throw malformed("unexpected end of the document") }
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
            if value.count <= DocumentReader.maximumValueBytes { value.append(byte) }
            index += 1
        }
        guard value.count <= DocumentReader.maximumValueBytes else {
            return .failure(malformed("a value is larger than \(DocumentReader.maximumValueBytes) bytes"))
        }
        do throws(Problem) {
            return .success(try JSONReader.read(value))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Bytes

    /// The next byte, which may be white space; nil at the end of the document.
    private mutating func current() throws -> UInt8? {
        while index == bytes.count {
            guard let more = try source() else { return nil }
            bytes = more
            index = 0
        }
        return bytes[index]
    }

    /// The next byte that is not white space; nil at the end of the document.
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
        guard try skip(character) else { throw malformed("expected \(character)") }
    }

    private func malformed(_ what: String) -> Problem {
        Problem(.malformedRequest, "\(name) does not have the format of an export: \(what).")
    }
}
