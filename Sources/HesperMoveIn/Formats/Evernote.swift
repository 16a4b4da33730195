import Foundation
import HesperModel

/// Reads exports of Evernote: one or more ENEX files. They may be in a folder or a zip archive. Each file is a notebook.
struct Evernote: SourceReader {
    private let files: [SourceFile]
    private let limits: SourceLimits
    private let records: MarkupRecords
    /// The temporary folder with the files that the notes contain.
    private let staging: Staging

    /// - Parameter files: the ENEX files.
    init(_ files: [SourceFile], _ limits: SourceLimits, _ runner: any MarkupRunner) throws {
        (self.files, self.limits) = (files, limits)
        staging = try Staging(limits)
        records = try MarkupRecords(
            of: files.filter { $0.problem == nil }.map { MarkupWork.File(path: $0.location, isEvernote: true) }, limits,
            runner, in: staging)
    }

    static func isEvernote(_ file: SourceFile) -> Bool { file.name.lowercased().hasSuffix(".enex") }

    var count: Int { records.count }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        for file in files {
            if let problem = file.problem { try await body(.skipped(path: file.path, reason: problem)) }
        }
        let readable = files.filter { $0.problem == nil }
        var numbers: [UniqueID: Int] = [:]
        try await records.readEach { record in
            switch record {
            case .note(let note):
                let file = readable[note.source]
                let path = "\(file.path), \(note.title.isEmpty ? "untitled" : note.title)"
                do {
                    try await body(.note(self.note(note, path, file, &numbers)))
                } catch let rejected as SourceNote.Rejected {
                    try await body(.skipped(path: path, reason: rejected.reason))
                }
            case .skipped(let index, let title, let reason):
                let path = readable[index].path + (title.isEmpty ? "" : ", \(title)")
                try await body(.skipped(path: path, reason: reason))
            case .end: break
            }
        }
    }

    private func note(
        _ record: MarkupRecord.Note, _ path: String, _ file: SourceFile, _ numbers: inout [UniqueID: Int]
    ) throws(SourceNote.Rejected) -> SourceNote {
        // Notes have no ID in an export. The ID is derived from the title and the creation time, because users rarely change these
        // when they change the text of a note.
        let key = "\(record.created)\n\(record.title)"
        var id = ImportedNote.uniqueID(app: "evernote", id: key)
        let number = numbers[id, default: 0] + 1
        numbers[id] = number
        if number > 1 { id = ImportedNote.uniqueID(app: "evernote", id: "\(key)\n\(number)") }
        var draft = SourceNote.Draft(path: path, uniqueID: id)
        var collector = AttachmentCollector(of: id, limits, FileHashes())
        for loss in record.losses { collector.lose(loss.part, loss.reason) }
        let text = collector.rewrite(record) { mention in
            guard mention.address.hasPrefix("evernote:"), let title = mention.label else { return nil }
            return records.allTitles.contains(title) ? .note(title: title) : nil
        }
        draft.text = NoteTitle.text(title: record.title, body: text)
        draft.tags = [file.stem] + record.tags
        draft.creation = Evernote.date(record.created)
        draft.modification = Evernote.date(record.updated) ?? draft.creation
        (draft.attachments, draft.losses) = (collector.attachments, collector.losses)
        return try SourceNote(draft)
    }

    /// Parses a date such as `20211128T200842Z`.
    static func date(_ text: String) -> Timestamp? {
        let digits = Array(text.filter(\.isNumber))
        guard digits.count == 14 else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        return Timestamp(
            "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))Z")
    }
}

extension AttachmentCollector {
    /// Adds the files of a record as attachments, and returns the text of the record with its links replaced (``LinkRewriter``).
    /// Pictures to which the text has no link are added at the end of the text, as `![](attachment:ID)`.
    /// - Parameter resolve: returns the targets of links that do not refer to files of the record.
    mutating func rewrite(_ record: MarkupRecord.Note, _ resolve: (LinkMention) -> LinkRewriter.Target?) -> String {
        var added: [String: SourceAttachment] = [:]
        for file in record.files where added[file.hash] == nil {
            let source = SourceFile(
                path: file.hash, location: file.location, byteCount: file.byteCount, creation: .current,
                modification: .current)
            let ending = MediaType.endings[file.mimeType].map { ".\($0)" } ?? ""
            let name = file.name.isEmpty ? "file\(ending)" : file.name
            if let attachment = add(source, filename: name, mimeType: file.mimeType) { added[file.hash] = attachment }
        }
        var placed: Set<UniqueID> = []
        let text = LinkRewriter.rewrite(record.text) { mention in
            guard mention.address.hasPrefix(MarkdownConverter.resourceScheme) else { return resolve(mention) }
            guard let file = added[String(mention.address.dropFirst(MarkdownConverter.resourceScheme.count))] else {
                return .nothing
            }
            placed.insert(file.uniqueID)
            return .attachment(file)
        }
        let marks = attachments.filter { $0.isPicture && !placed.contains($0.uniqueID) && added.values.contains($0) }
            .map { LinkRewriter.mark($0) }
        let end = text.lastIndex { !$0.isNewline }.map { text.index(after: $0) } ?? text.startIndex
        return ([String(text[..<end])].filter { !$0.isEmpty } + marks).joined(separator: "\n\n")
    }
}
