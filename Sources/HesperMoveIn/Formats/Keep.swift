import Foundation
import HesperModel

/// Reads a Takeout export of Google Keep, which is a folder or a zip archive. It contains a JSON file for each note, and the
/// pictures of the note in the same folder. It also contains each note as an HTML file, which is not read.
struct Keep: SourceReader {
    private let source: SourceFiles
    private let notes: [SourceFile]
    private let limits: SourceLimits
    /// The attached files. Each file is listed under its path with extension and under its path without extension, because the name
    /// in the JSON often has a different extension than the file.
    private let files: [String: SourceFile]

    /// - Returns: nil if the source is not an export of Keep.
    init?(_ source: SourceFiles, _ limits: SourceLimits) {
        let notes = source.files.filter { $0.name.lowercased().hasSuffix(".json") }
        guard notes.contains(where: { JSONFile($0).begins(with: "isTrashed", "userEditedTimestampUsec") }) else {
            return nil
        }
        (self.source, self.notes, self.limits) = (source, notes, limits)
        var files: [String: SourceFile] = [:]
        for file in source.files where file.kind == .other {
            files[file.path] = file
            files[Keep.stem(file.path)] = file
        }
        self.files = files
    }

    var count: Int { notes.count }

    private static func stem(_ path: String) -> String { path.lastIndex(of: ".").map { String(path[..<$0]) } ?? path }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        for (path, reason) in source.unreadable { try await body(.skipped(path: path, reason: reason)) }
        let hashes = FileHashes()
        var seen: Set<UniqueID> = []
        var ignored = source.ignored
        for file in notes {
            do {
                guard let entry = try entry(file, hashes, &seen) else {
                    ignored += 1
                    continue
                }
                try await body(entry)
            } catch let rejected as SourceNote.Rejected {
                try await body(.skipped(path: file.path, reason: rejected.reason))
            }
        }
        let used = hashes.used
        ignored += source.files.count { !$0.name.lowercased().hasSuffix(".json") && !used.contains($0.path) }
        try await body(.ignored(ignored))
    }

    /// - Returns: nil if the file is not a note, or if the note has neither text nor files.
    private func entry(
        _ file: SourceFile, _ hashes: FileHashes, _ seen: inout Set<UniqueID>
    ) throws(SourceNote.Rejected) -> SourceEntry? {
        let json: JSON
        do throws(Problem) {
            json = try JSONReader.read(Array(try file.bytes()))
        } catch {
            throw SourceNote.Rejected(reason: error.detail)
        }
        guard json["isTrashed"] != nil || json["userEditedTimestampUsec"] != nil else { return nil }
        if json["isTrashed"]?.isTrue == true { return .trashed(path: file.path) }
        let creation = json["createdTimestampUsec"]?.number
        // Notes have no ID, so the ID is derived from the creation time, which is precise to a microsecond.
        var id = ImportedNote.uniqueID(app: "keep", id: creation.map(String.init) ?? file.name)
        if !seen.insert(id).inserted {
            id = ImportedNote.uniqueID(app: "keep", id: file.name)
            seen.insert(id)
        }
        var draft = SourceNote.Draft(path: file.path, uniqueID: id)
        var collector = AttachmentCollector(of: id, limits, hashes)
        let text = parts(of: json, file, &collector).joined(separator: "\n\n")
        draft.text = NoteTitle.text(title: json["title"]?.text ?? "", body: text)
        if draft.text.isEmpty, collector.attachments.isEmpty, collector.losses.isEmpty { return nil }
        draft.creation = creation.flatMap { Timestamp(milliseconds: $0 / 1_000) }
        draft.modification = json["userEditedTimestampUsec"]?.number.flatMap { Timestamp(milliseconds: $0 / 1_000) }
        draft.tags = json["labels"]?.elements.compactMap { $0["name"]?.text } ?? []
        draft.isArchived = json["isArchived"]?.isTrue == true
        draft.isPinned = json["isPinned"]?.isTrue == true
        (draft.attachments, draft.losses) = (collector.attachments, collector.losses)
        return .note(try SourceNote(draft))
    }

    /// The parts of the note's text: the text itself, the check list, links to web pages, and `![](attachment:ID)` for each
    /// picture. Also adds the attachments to `collector`.
    private func parts(of json: JSON, _ file: SourceFile, _ collector: inout AttachmentCollector) -> [String] {
        var parts = [json["textContent"]?.text?.withLineFeeds ?? ""]
        let list = json["listContent"]?.elements ?? []
        parts.append(
            list.map { item in
                let text = item["text"]?.text?.withLineFeeds.replacing("\n", with: " ") ?? ""
                return "- [\(item["isChecked"]?.isTrue == true ? "x" : " ")] \(text)"
            }.joined(separator: "\n"))
        for page in json["annotations"]?.elements ?? [] {
            guard let url = page["url"]?.text, !parts.contains(where: { $0.contains(url) }) else { continue }
            let title = page["title"]?.text?.filter { !"[]".contains($0) && !$0.isNewline } ?? ""
            parts.append(title.isEmpty ? url : "[\(title)](\(url))")
        }
        let folder = file.folders.map { $0 + "/" }.joined()
        for attachment in json["attachments"]?.elements ?? [] {
            guard let name = attachment["filePath"]?.text else { continue }
            let path = folder + name
            guard let found = files[path] ?? files[Keep.stem(path)] else {
                collector.lose(name, "The export does not contain it.")
                continue
            }
            if let added = collector.add(found, mimeType: attachment["mimetype"]?.text), added.isPicture {
                parts.append(LinkRewriter.mark(added))
            }
        }
        return parts.filter { !$0.isEmpty }
    }
}

extension SourceFile {
    /// The contents of a file that contains one note, without a byte order mark.
    fileprivate func bytes() throws(Problem) -> [UInt8] {
        do throws(SourceNote.Rejected) {
            let data = try data(limit: Int64(Limits.pushBytes))
            return Array(data.starts(with: SourceLimits.byteOrderMark) ? data.dropFirst(3) : data)
        } catch {
            throw Problem(.malformedRequest, error.reason)
        }
    }
}
