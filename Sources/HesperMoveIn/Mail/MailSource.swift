import Foundation
import HesperModel

/// Reads an e-mail message as a note. The subject becomes the title, and attached files become attachments.
///
///     let mail = try MailSource(bytes, tags: ["Inbox"], received: .now, SourceLimits(attachmentBytes: 100 << 20), runner)
///     try await importer.run(mail) { _, _ in }
public struct MailSource: SourceReader {
    private let note: SourceNote
    /// The temporary folder with the attached files. The folder must exist until the importer has stored the files.
    private let staging: Staging

    public let count = 1

    /// - Parameters:
    ///   - tags: the names of the note's tags.
    ///   - received: the date of the note.
    ///   - runner: runs the parser of HTML in another process.
    /// - Throws: ``MailError`` if the message cannot be read or a file is too large, ``SourceNote/Rejected`` if the text is not
    ///   allowed in a note, ``MoveInError`` if a temporary file cannot be written.
    public init(
        _ bytes: [UInt8], tags: [String], received: Timestamp, _ limits: SourceLimits, _ runner: any MarkupRunner
    ) throws {
        let staging = try Staging(limits)
        let message = try MailMessage(bytes) { html in try MailSource.text(of: html, limits, runner, in: staging) }
        var hasher = AttachmentHasher()
        for part in [message.messageID ?? "", message.subject, message.text] { hasher.update(part: Array(part.utf8)) }
        for file in message.attachments { hasher.update(part: file.bytes) }
        // The ID is derived from the contents of the message. A message that is delivered twice therefore becomes one note, and no
        // other message can change this note.
        let id = ImportedNote.uniqueID(app: "mail", id: hasher.data.sha256)
        var draft = SourceNote.Draft(path: message.subject.isEmpty ? "the message" : message.subject, uniqueID: id)
        var collector = AttachmentCollector(of: id, limits, FileHashes())
        for (index, file) in message.attachments.enumerated() {
            let ending = MediaType.endings[file.mediaType].map { ".\($0)" } ?? ""
            let name =
                file.filename
                ?? (file.mediaType == "message/rfc822" ? "message.eml" : "attachment\(index + 1)\(ending)")
            let staged = try MailSource.stage(file.bytes, in: staging)
            _ = collector.add(
                SourceFile(
                    path: "\(index + 1)/\(name)", location: staged, byteCount: Int64(file.bytes.count),
                    creation: received,
                    modification: received),
                filename: name, mimeType: file.mediaType)
        }
        if let loss = collector.losses.first { throw MailError("\(loss.part) cannot be an attachment. \(loss.reason)") }
        draft.text = NoteTitle.text(title: message.subject, body: message.text)
        if draft.text.isEmpty, let first = collector.attachments.first { draft.text = first.filename }
        (draft.creation, draft.modification) = (received, received)
        draft.tags = tags
        draft.attachments = collector.attachments
        note = try SourceNote(draft)
        self.staging = staging
    }

    public func read(_ body: (SourceEntry) async throws -> Void) async throws {
        defer { withExtendedLifetime(staging) {} }
        try await body(.note(note))
    }

    /// Converts HTML to Markdown.
    private static func text(
        of html: String, _ limits: SourceLimits, _ runner: any MarkupRunner, in staging: Staging
    ) throws -> String {
        let path = try stage(Array(html.utf8), in: staging)
        let records = try MarkupRecords(
            of: [MarkupWork.File(path: path, isEvernote: false)], limits, runner, in: staging)
        switch try records.record(of: 0) {
        case .note(let note): return note.text
        case .skipped(_, _, let reason): throw MailError("The HTML of the message cannot be read. \(reason)")
        case .end, nil: return ""
        }
    }

    private static func stage(_ bytes: [UInt8], in staging: Staging) throws -> String {
        var file = try StagedFile(in: staging)
        try bytes.withUnsafeBytes { try file.append($0) }
        return file.path
    }
}

extension AttachmentHasher {
    /// Adds the length of a part and the part itself. Without the lengths, different lists of parts could have the same hash.
    fileprivate mutating func update(part: [UInt8]) {
        withUnsafeBytes(of: UInt64(part.count).bigEndian) { update($0) }
        part.withUnsafeBytes { update($0) }
    }
}
