import Foundation
import HesperModel

/// Reads a folder or an archive of text files: plain text, Markdown and HTML. It may be a vault of Obsidian.
///
/// HTML is converted to Markdown. The front matter of other texts is kept. In an archive and in a vault, links to files and notes
/// are replaced. In a plain folder, texts are not changed, so that `hesper sync` can match the notes with the files. In a vault,
/// the name of a file is the title of its note.
struct MarkdownFolder: SourceReader {
    private let source: SourceFiles
    private let notes: [SourceFile]
    private let limits: SourceLimits
    /// The parsed contents of the HTML files. `documents` maps the path of each HTML file to its number in `records`.
    private let records: MarkupRecords
    private let documents: [String: Int]
    /// The temporary folder with the pictures that HTML files contain; nil if there are no HTML files.
    private let staging: Staging?

    init(_ source: SourceFiles, _ limits: SourceLimits, _ runner: any MarkupRunner) throws {
        (self.source, self.limits) = (source, limits)
        notes = source.files.filter(MarkdownFolder.isNote)
        let documents = notes.filter { $0.kind == .document && $0.problem == nil }
        let staging = try Staging(limits)
        records = try MarkupRecords(
            of: documents.map { MarkupWork.File(path: $0.location, isEvernote: false) }, limits, runner, in: staging)
        self.documents = Dictionary(documents.enumerated().map { ($1.path, $0) }) { first, _ in first }
        self.staging = documents.isEmpty ? nil : staging
    }

    static func isNote(_ file: SourceFile) -> Bool { file.kind == .text || file.kind == .document }

    var count: Int { notes.count }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        for (path, reason) in source.unreadable { try await body(.skipped(path: path, reason: reason)) }
        let (index, titles) = self.index()
        let hashes = FileHashes()
        var seen: Set<UniqueID> = []
        for file in notes {
            do {
                let note = try note(of: file, index, titles, hashes)
                guard seen.insert(note.uniqueID).inserted else {
                    throw SourceNote.Rejected(
                        reason: source.isLoose
                            ? "Another file has the same name and the same text."
                            : "Another file has the same name in a different Unicode normalization.")
                }
                try await body(.note(note))
            } catch let rejected as SourceNote.Rejected {
                try await body(.skipped(path: file.path, reason: rejected.reason))
            }
        }
        let used = hashes.used
        let others = source.files.count { !MarkdownFolder.isNote($0) && !used.contains($0.path) }
        try await body(.ignored(source.ignored + others))
    }

    /// Reads the beginning of each text, to find the titles and aliases of the notes to which links may lead.
    private func index() -> (FolderIndex, titles: [Int: String]) {
        var index = FolderIndex(source.files, isNote: MarkdownFolder.isNote)
        var titles: [Int: String] = [:]
        for (position, file) in source.files.enumerated() where MarkdownFolder.isNote(file) {
            if file.kind == .document {
                titles[position] = documents[file.path].flatMap { records.titles[$0] }
                continue
            }
            let text = String(decoding: file.beginning(MarkdownFolder.indexedBytes), as: UTF8.self)
            titles[position] = title(of: file, text)
            for alias in FrontMatter(text)?.aliases ?? [] { index.add(alias: alias, of: position) }
        }
        return (index, titles)
    }

    /// The number of bytes at the beginning of each text that are read to find its title.
    private static let indexedBytes = 16 << 10

    private func title(of file: SourceFile, _ text: String) -> String {
        source.isVault ? FrontMatter(text)?.title ?? file.stem : NoteTitle.of(text)
    }

    private func note(
        of file: SourceFile, _ index: FolderIndex, _ titles: [Int: String], _ hashes: FileHashes
    ) throws -> SourceNote {
        let document = file.kind == .document ? try record(of: file) : nil
        let written = try document?.text ?? file.text()
        let id =
            source.isLoose
            ? ImportedNote.uniqueID(file: file.name, text: written)
            : ImportedNote.uniqueID(folder: source.name, path: file.path)
        var collector = AttachmentCollector(of: id, limits, hashes)
        let changesLinks = source.isVault || source.isArchive || file.kind == .document
        func target(of mention: LinkMention, _ collector: inout AttachmentCollector) -> LinkRewriter.Target? {
            guard let found = index.file(of: mention.link, in: file) else { return nil }
            let target = source.files[found]
            if MarkdownFolder.isNote(target) { return titles[found].map { .note(title: $0) } }
            // The links in a plain folder are not changed. They are resolved by the path of the file, so the path becomes the name
            // of the attachment (mirror.md, Pictures and other files).
            let filename = changesLinks ? nil : target.path
            return collector.add(target, filename: filename, keepsPath: !changesLinks).map { .attachment($0) }
        }
        if var record = document {
            for loss in record.losses { collector.lose(loss.part, loss.reason) }
            record.text = LinkRewriter.rewrite(record.text) { target(of: $0, &collector) }
            let text = collector.rewrite(record) { _ in nil }
            return try SourceNote(
                SourceNote.Draft(
                    path: file.path, uniqueID: id, text: NoteTitle.text(title: record.title, body: text),
                    tags: file.folders, creation: file.creation, modification: file.modification,
                    attachments: collector.attachments, losses: collector.losses))
        }
        let front = FrontMatter(written)
        let linked = LinkRewriter.rewrite(written, from: front?.length ?? 0) { target(of: $0, &collector) }
        var text = changesLinks ? linked : written
        if source.isVault, front?.title == nil {
            let start = text.utf8.index(text.startIndex, offsetBy: front?.length ?? 0)
            text = text[..<start] + NoteTitle.text(title: file.stem, body: String(text[start...]))
        }
        return try SourceNote(
            SourceNote.Draft(
                path: file.path, uniqueID: id, text: text,
                tags: file.folders + (front?.tags ?? []) + (source.isVault ? InlineTags.all(in: written) : []),
                creation: front?.created ?? file.creation, modification: front?.updated ?? file.modification,
                attachments: collector.attachments, losses: collector.losses))
    }
}

extension MarkdownFolder {
    /// The parsed contents of an HTML file.
    private func record(of file: SourceFile) throws -> MarkupRecord.Note {
        if let problem = file.problem { throw SourceNote.Rejected(reason: problem) }
        switch try documents[file.path].flatMap({ try records.record(of: $0) }) {
        case .note(let note)?: return note
        case .skipped(_, _, let reason)?: throw SourceNote.Rejected(reason: reason)
        case .end?, nil: throw SourceNote.Rejected(reason: "It cannot be read.")
        }
    }
}

/// Finds the tags in the text of an Obsidian note, such as `#work/mail`.
enum InlineTags {
    static func all(in text: String) -> [String] {
        guard text.contains("#") else { return [] }
        var tags: [String] = []
        var isInCode = false
        for line in text.split(whereSeparator: \.isNewline) {
            let content = line.drop(while: \.isWhitespace)
            if content.hasPrefix("```") || content.hasPrefix("~~~") {
                isInCode.toggle()
            } else if !isInCode, line.contains("#") {
                // Text between backticks is code, and `#` in it begins no tag.
                let parts = line.split(separator: "`", omittingEmptySubsequences: false)
                for (index, part) in parts.enumerated() where index.isMultiple(of: 2) || parts.count.isMultiple(of: 2) {
                    add(part, to: &tags)
                }
            }
        }
        return tags
    }

    private static func add(_ line: Substring, to tags: inout [String]) {
        for word in line.split(whereSeparator: \.isWhitespace) where word.first == "#" {
            let name = word.dropFirst().prefix { $0.isLetter || $0.isNumber || "-_/".contains($0) }
            let tag = name.split(separator: "/").joined(separator: "/")
            guard tag.contains(where: { !$0.isNumber && $0 != "/" }), !tags.contains(tag) else { continue }
            tags.append(tag)
        }
    }
}
