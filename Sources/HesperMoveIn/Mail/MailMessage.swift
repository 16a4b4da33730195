/// The parts of an e-mail message that become a note: the subject, the text and the attached files.
///
///     let message = try MailMessage(bytes) { html in try markdown(of: html) }
///     message.subject        // "Grüße"
///     message.attachments    // the files, decoded
public struct MailMessage: Sendable {
    public struct Attachment: Sendable, Equatable {
        /// The name of the file, without folders; nil if the message does not name the file.
        public let filename: String?
        /// The media type, such as `image/jpeg`.
        public let mediaType: String
        public let bytes: [UInt8]
    }

    /// The subject in one line; empty if there is none.
    public let subject: String
    /// The text. Lines end with a line feed, and blank lines at the beginning and end are removed. If the message contains the text
    /// in several formats, plain text is used, unless it is blank.
    public let text: String
    public let attachments: [Attachment]
    /// The `Message-ID` without angle brackets; nil if there is none.
    public let messageID: String?

    /// The maximum size of a message, in bytes.
    public static let maximumBytes = 25 << 20

    /// Parses a message.
    /// - Parameter html: converts HTML to text.
    /// - Throws: ``MailError``, and the errors of `html`.
    public init(_ bytes: [UInt8], html: @escaping (String) throws -> String) throws {
        guard bytes.count <= MailMessage.maximumBytes else {
            throw MailError("The message has more than \(MailMessage.maximumBytes) bytes.")
        }
        let message = try MIMEPart(bytes)
        guard !message.headers.isEmpty else { throw MailError("The message has no header fields.") }
        subject = HeaderText.decoded(message["subject"] ?? "").split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        let id = message["message-id"]?.trimmingSpace.drop { $0 == "<" }.prefix { $0 != ">" && !$0.isWhitespace }
        messageID = id.flatMap { $0.isEmpty ? nil : String($0) }
        var contents = MailContents(html: html)
        try contents.add(message)
        text = contents.texts.map(\.trimmingBlankLines).filter { !$0.isEmpty }.joined(separator: "\n\n")
        attachments = contents.attachments
    }
}

/// Collects the texts and attachments from the parts of a message.
private struct MailContents {
    let html: (String) throws -> String
    private(set) var texts: [String] = []
    private(set) var attachments: [MailMessage.Attachment] = []

    init(html: @escaping (String) throws -> String) { self.html = html }

    mutating func add(_ part: MIMEPart) throws {
        switch part.contents {
        case .parts(let parts) where part.type.name == "multipart/alternative":
            if let best = try best(of: parts) { try add(best) }
        case .parts(let parts):
            for part in parts { try add(part) }
        case .bytes(let bytes):
            let decoded = TransferEncoding.decoded(bytes, part["content-transfer-encoding"])
            if let text = try text(of: part, decoded) {
                texts.append(text)
            } else {
                attachments.append(
                    MailMessage.Attachment(filename: part.filename, mediaType: part.type.name, bytes: decoded))
            }
        }
    }

    /// Selects one of several alternatives: the first plain text that is not blank, or otherwise the last part. Senders put the
    /// alternative with the most formatting last (RFC 2046).
    private func best(of parts: [MIMEPart]) throws -> MIMEPart? {
        for part in parts where part.type.name == "text/plain" {
            guard case .bytes(let bytes) = part.contents else { continue }
            let decoded = TransferEncoding.decoded(bytes, part["content-transfer-encoding"])
            if let text = try text(of: part, decoded), !text.trimmingBlankLines.isEmpty { return part }
        }
        return parts.last
    }

    /// The text of a part that is shown as text; nil if the part is an attachment.
    private func text(of part: MIMEPart, _ bytes: [UInt8]) throws -> String? {
        guard !part.isAttachment else { return nil }
        let text = { Charset.text(bytes[...], charset: part.type.parameters["charset"] ?? "") }
        switch part.type.name {
        case "text/plain":
            let plain = text().replacingLineEnds
            guard part.type.parameters["format"]?.lowercased() == "flowed" else { return plain }
            return FlowedText.joined(plain, deletesSpace: part.type.parameters["delsp"]?.lowercased() == "yes")
        case "text/html": return try html(text())
        default: return nil
        }
    }
}

extension MIMEPart {
    /// Whether the part is an attached file rather than a text of the message.
    fileprivate var isAttachment: Bool { disposition?.name == "attachment" || filename != nil }

    private var disposition: MIMEType? { self["content-disposition"].flatMap { MIMEType($0) } }

    /// The name of the attached file. Folders, which some senders include, are removed.
    fileprivate var filename: String? {
        let name = disposition?.parameters["filename"] ?? type.parameters["name"]
        let last = name?.split { $0 == "/" || $0 == "\\" }.last
        return last.map { String($0.unicodeScalars.filter { $0.properties.generalCategory != .control }) }
            .flatMap { $0.isEmpty || $0 == "." || $0 == ".." ? nil : $0 }
    }
}

/// The format `flowed` of plain text, in which the sender breaks long lines (RFC 3676).
private enum FlowedText {
    /// Joins the lines that the sender has broken: a line that ends with a space continues on the next line. A quotation is not
    /// joined with other text.
    static func joined(_ text: String, deletesSpace: Bool) -> String {
        var lines: [String] = []
        var (isOpen, openDepth) = (false, 0)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let depth = line.prefix { $0 == ">" }.count
            var content = line.dropFirst(depth)
            // In this format, senders insert a space before a line that begins with a space, `>` or `From `. This space is removed.
            if content.first == " " { content = content.dropFirst() }
            let isSignature = content == "-- "
            let isSoft = content.last == " " && !isSignature
            let kept = isSoft && deletesSpace ? content.dropLast() : content
            if isOpen, depth == openDepth, !isSignature, let last = lines.indices.last {
                lines[last] += kept
            } else {
                lines.append((depth > 0 ? String(repeating: ">", count: depth) + " " : "") + kept)
            }
            (isOpen, openDepth) = (isSoft, depth)
        }
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate var replacingLineEnds: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var last: UInt8 = 0
        for byte in utf8 {
            switch byte {
            case 0x0d: bytes.append(0x0a)
            case 0x0a where last == 0x0d: break
            // Notes cannot contain NUL.
            case 0: break
            default: bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without blank lines at its beginning and end.
    fileprivate var trimmingBlankLines: String {
        var lines = split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.first, line.allSatisfy(\.isWhitespace) { lines.removeFirst() }
        while let line = lines.last, line.allSatisfy(\.isWhitespace) { lines.removeLast() }
        return lines.joined(separator: "\n")
    }
}
