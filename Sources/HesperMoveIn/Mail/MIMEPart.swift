/// A message or a part of a message: its header fields and its contents (RFC 5322, RFC 2046). The contents are still in their
/// transfer encoding.
///
///     let message = try MIMEPart(bytes)
///     message["subject"]           // "=?utf-8?q?Gr=C3=BC=C3=9Fe?="
///     message.contents             // .parts([…]) for a multipart message
public struct MIMEPart: Sendable {
    public enum Contents: Sendable {
        case bytes(ArraySlice<UInt8>)
        case parts([MIMEPart])
    }

    /// The header fields in their order. Names are in lower case. Values that were folded into several lines are joined.
    public let headers: [(name: String, value: String)]
    public let type: MIMEType
    public let contents: Contents

    /// The maximum number of parts of a message, including parts that contain other parts.
    public static let maximumParts = 100
    /// The maximum depth to which parts may be nested.
    public static let maximumDepth = 10
    /// The maximum size of the header fields of a part, in bytes.
    static let maximumHeaderBytes = 256 << 10

    /// Parses a message. If the end of a part is missing, the part extends to the end of the message, as in mail programs.
    /// - Throws: ``MailError`` if a limit is exceeded.
    public init(_ bytes: [UInt8]) throws(MailError) {
        var count = 0
        try self.init(bytes[...], isDigest: false, depth: 1, &count)
    }

    private init(_ bytes: ArraySlice<UInt8>, isDigest: Bool, depth: Int, _ count: inout Int) throws(MailError) {
        count += 1
        guard count <= MIMEPart.maximumParts else {
            throw MailError("The message has more than \(MIMEPart.maximumParts) parts.")
        }
        var lines = MailLines(bytes)
        headers = try MIMEPart.headers(&lines)
        let body = lines.rest
        let fields = headers
        let type = MIMEType(fields.first { $0.name == "content-type" }?.value, isDigest: isDigest)
        self.type = type
        guard type.name.hasPrefix("multipart/"), let boundary = type.parameters["boundary"], !boundary.isEmpty else {
            contents = .bytes(body)
            return
        }
        guard depth < MIMEPart.maximumDepth else {
            throw MailError("The parts of the message are nested more than \(MIMEPart.maximumDepth) levels deep.")
        }
        var parts: [MIMEPart] = []
        for part in MIMEPart.split(body, at: boundary) {
            parts.append(
                try MIMEPart(part, isDigest: type.name == "multipart/digest", depth: depth + 1, &count))
        }
        contents = .parts(parts)
    }

    /// The value of the first header field with this name, which must be in lower case; nil if there is none.
    public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    private static func headers(_ lines: inout MailLines) throws(MailError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        var byteCount = 0
        while let line = lines.next(), !line.isEmpty {
            byteCount += line.count
            guard byteCount <= maximumHeaderBytes else {
                throw MailError("The header of the message has more than \(maximumHeaderBytes) bytes.")
            }
            let text = HeaderText.text(line)
            if line.first == 0x20 || line.first == 0x09 {
                if let last = fields.indices.last { fields[last].value += text }
            } else if let colon = text.firstIndex(of: ":") {
                let name = text[..<colon].trimmingSpace.lowercased()
                fields.append((name, String(text[text.index(after: colon)...].trimmingSpace)))
            }
        }
        return fields
    }

    /// Splits the body of a message into parts. The parts are separated by lines that consist of `--` and the boundary.
    private static func split(_ body: ArraySlice<UInt8>, at boundary: String) -> [ArraySlice<UInt8>] {
        let delimiter = Array("--\(boundary)".utf8)
        var parts: [ArraySlice<UInt8>] = []
        var start: Int?
        var lines = MailLines(body)
        while true {
            let position = lines.position
            guard let line = lines.next() else { break }
            guard line.starts(with: delimiter) else { continue }
            let tail = line.dropFirst(delimiter.count)
            let isLast = tail.starts(with: Array("--".utf8))
            guard isLast || tail.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { continue }
            if let start { parts.append(body[start..<position].withoutLineEnd) }
            start = isLast ? nil : lines.position
            if isLast { return parts }
        }
        if let start { parts.append(body[start...]) }
        return parts
    }
}

/// The lines of a message. They end with LF or CR LF, which are not part of a line.
struct MailLines {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func next() -> ArraySlice<UInt8>? {
        guard position < bytes.endIndex else { return nil }
        let line = rest.prefix { $0 != 0x0a }
        position = min(line.endIndex + 1, bytes.endIndex)
        return line.last == 0x0d ? line.dropLast() : line
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without their last line end. The line end before a boundary belongs to the boundary and not to the part.
    fileprivate var withoutLineEnd: ArraySlice<UInt8> {
        guard last == 0x0a else { return self }
        let line = dropLast()
        return line.last == 0x0d ? line.dropLast() : line
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its beginning and end.
    var trimmingSpace: SubSequence {
        guard let first = firstIndex(where: { !$0.isSpace }), let last = lastIndex(where: { !$0.isSpace }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}

extension Character {
    fileprivate var isSpace: Bool { self == " " || self == "\t" }
}
