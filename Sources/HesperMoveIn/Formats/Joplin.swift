import Foundation
import HesperModel

/// Reads an export of Joplin: a JEX archive, a folder in the format RAW, or a zip archive of such a folder.
struct Joplin: SourceReader {
    private let source: SourceFiles
    private let limits: SourceLimits
    private let contents: Contents

    /// The parsed contents of the notes that are in HTML. `documents` maps the ID of each of these notes to its number in
    /// `records`.
    private let records: MarkupRecords
    private let documents: [String: Int]
    /// The temporary folder with the HTML files and the pictures in them.
    private let staging: Staging

    /// - Returns: nil if the source is not an export of Joplin.
    init?(_ source: SourceFiles, _ limits: SourceLimits, _ runner: any MarkupRunner) throws {
        let items = source.files.filter { JoplinItem.isID($0.stem) && $0.name.hasSuffix(".md") }
        guard items.contains(where: { (try? $0.text()).flatMap(JoplinItem.init) != nil }) else { return nil }
        (self.source, self.limits) = (source, limits)
        contents = Contents(source, items)
        staging = try Staging(limits)
        var documents: [String: Int] = [:]
        var files: [MarkupWork.File] = []
        for file in contents.notes where contents.isHTML.contains(file.stem) {
            guard let item = (try? file.text()).flatMap(JoplinItem.init) else { continue }
            let path = staging.path()
            try Data(item.body.utf8).write(to: URL(filePath: path))
            documents[item.id] = files.count
            files.append(MarkupWork.File(path: path, isEvernote: false))
        }
        self.documents = documents
        records = try MarkupRecords(of: files, limits, runner, in: staging)
    }

    var count: Int { contents.notes.count }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        for (path, reason) in source.unreadable { try await body(.skipped(path: path, reason: reason)) }
        for (path, reason) in contents.broken { try await body(.skipped(path: path, reason: reason)) }
        let hashes = FileHashes()
        for file in contents.notes {
            do {
                try await body(entry(file, hashes))
            } catch let rejected as SourceNote.Rejected {
                try await body(.skipped(path: file.path, reason: rejected.reason))
            }
        }
        try await body(.ignored(source.ignored))
    }

    private func entry(_ file: SourceFile, _ hashes: FileHashes) throws -> SourceEntry {
        guard let item = JoplinItem(try file.text()) else {
            throw SourceNote.Rejected(reason: "It is not a Joplin item.")
        }
        guard !item.isSet("encryption_applied") else {
            throw SourceNote.Rejected(reason: "It is encrypted. Wait until Joplin has decrypted it, and export again.")
        }
        if item.isSet("deleted_time") { return .trashed(path: "\(file.path), \(item.title)") }
        let id = ImportedNote.uniqueID(app: "joplin", id: item.id)
        var draft = SourceNote.Draft(path: file.path, uniqueID: id)
        var collector = AttachmentCollector(of: id, limits, hashes)
        func target(of mention: LinkMention, _ collector: inout AttachmentCollector) -> LinkRewriter.Target? {
            guard mention.address.hasPrefix(":/") else { return nil }
            let target = String(mention.address.dropFirst(2).prefix(32))
            if let title = contents.titles[target] { return .note(title: title) }
            guard let resource = contents.resources[target] else { return nil }
            guard let found = contents.files[target] else {
                collector.lose(resource.name, "The export does not contain it.")
                return nil
            }
            return collector.add(found, filename: resource.name, mimeType: resource.type).map { .attachment($0) }
        }
        var record = try record(of: item)
        record.text = LinkRewriter.rewrite(record.text) { target(of: $0, &collector) }
        let body = collector.rewrite(record) { _ in nil }
        let mark = item.isSet("is_todo") ? "- [\(item.isSet("todo_completed") ? "x" : " ")]" : nil
        draft.text = NoteTitle.text(title: item.title, body: body, mark: mark)
        draft.creation = item.date("user_created_time") ?? item.date("created_time")
        draft.modification = item.date("user_updated_time") ?? item.date("updated_time")
        draft.tags = contents.tags(of: item)
        (draft.attachments, draft.losses) = (collector.attachments, collector.losses)
        return .note(try SourceNote(draft))
    }

    /// The text of a note in Markdown. If the note is in HTML, the text was converted.
    private func record(of item: JoplinItem) throws -> MarkupRecord.Note {
        guard let document = documents[item.id] else { return MarkupRecord.Note(source: 0, text: String(item.body)) }
        switch try records.record(of: document) {
        case .note(let note)?: return note
        case .skipped(_, _, let reason)?: throw SourceNote.Rejected(reason: reason)
        case .end?, nil: throw SourceNote.Rejected(reason: "It cannot be read.")
        }
    }

    /// The items of the export, without the texts of the notes.
    private struct Contents {
        /// The files of the notes.
        private(set) var notes: [SourceFile] = []
        private(set) var broken: [(path: String, reason: String)] = []
        /// The IDs of the notes that are in HTML.
        private(set) var isHTML: Set<String> = []
        /// The titles of the notes, by ID.
        private(set) var titles: [String: String] = [:]
        private(set) var resources: [String: (name: String, type: String?)] = [:]
        /// The files of the resources, by the ID of the resource.
        private(set) var files: [String: SourceFile] = [:]
        private var notebooks: [String: (title: String, parent: String?)] = [:]
        private var tags: [String: String] = [:]
        private var tagsOfNotes: [String: [String]] = [:]

        init(_ source: SourceFiles, _ items: [SourceFile]) {
            for file in source.files where file.folders.last == "resources" { files[file.stem] = file }
            for file in items {
                do throws(SourceNote.Rejected) {
                    if let item = JoplinItem(try file.text()) { add(item, file) }
                } catch {
                    broken.append((file.path, error.reason))
                }
            }
        }

        private mutating func add(_ item: JoplinItem, _ file: SourceFile) {
            switch item.kind {
            case .note:
                notes.append(file)
                if item["markup_language"] == "2", !item.isSet("encryption_applied") { isHTML.insert(file.stem) }
                titles[item.id] = item.title.isEmpty ? NoteTitle.of(String(item.body)) : item.title
            case .notebook: notebooks[item.id] = (item.title, item["parent_id"])
            case .resource:
                let ending = item["file_extension"].map { ".\($0)" } ?? ""
                resources[item.id] = (item.title.isEmpty ? item.id + ending : item.title, item["mime"])
            case .tag: tags[item.id] = item.title
            case .noteTag:
                if let note = item["note_id"], let tag = item["tag_id"] { tagsOfNotes[note, default: []].append(tag) }
            }
        }

        /// The names of the note's tags. The path of the note's notebook becomes one tag, such as `work/mail` for the notebook
        /// `mail` in the notebook `work`.
        func tags(of note: JoplinItem) -> [String] {
            var names: [String] = []
            var next = note["parent_id"]
            var seen: Set<String> = []
            // The set `seen` ends the loop if a notebook contains itself.
            while let id = next, let notebook = notebooks[id], seen.insert(id).inserted {
                names.append(notebook.title.replacing("/", with: "-"))
                next = notebook.parent
            }
            let path = names.isEmpty ? [] : [names.reversed().joined(separator: "/")]
            return path + (tagsOfNotes[note.id] ?? []).compactMap { tags[$0] }
        }
    }
}
