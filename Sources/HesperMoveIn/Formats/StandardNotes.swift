import HesperArchive
import HesperModel

/// Reads a decrypted backup of Standard Notes: the file `Standard Notes Backup and Import File.txt`. The source may be this file,
/// or a folder or a zip archive that contains it.
struct StandardNotes: SourceReader {
    /// The source. This reference keeps the temporary files of an unpacked archive until the notes are read.
    private let source: SourceFiles
    private let file: SourceFile
    private let tags: [String: [String]]
    private(set) var count = 0

    /// - Returns: nil if the source is not a backup of Standard Notes.
    init?(_ source: SourceFiles, _ limits: SourceLimits) async throws {
        let file = source.files.first { file in
            file.kind == .collection && file.folders.count <= 1
                && (file.name.hasPrefix("Standard Notes") || source.files.count == 1)
                && JSONFile(file).begins(with: "items", "auth_params", "keyParams")
        }
        guard let file else { return nil }
        (self.source, self.file) = (source, file)
        var collector = TagCollector()
        var count = 0
        // A document that ends too early is reported when its notes are read.
        var items = 0
        try await JSONFile(file).readBeginning { location, value in
            guard location.member == "items", case .success(let item) = value else { return }
            items += 1
            guard items <= limits.entries else { throw limits.tooManyEntries }
            switch item["content_type"]?.text {
            case "Note": count += 1
            case "Tag": collector.add(item)
            default: break
            }
        }
        (tags, self.count) = (collector.tagsOfNotes, count)
    }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        var number = 0
        do {
            try await JSONFile(file).readEach { location, value in
                guard location.member == "items" else { return }
                number += 1
                if let entry = entry(value, "\(file.path), item \(number)") { try await body(entry) }
            }
        } catch let rejected as SourceNote.Rejected {
            try await body(.skipped(path: file.path, reason: rejected.reason))
        }
    }

    /// - Returns: nil if the item is not a note, or is deleted.
    private func entry(_ value: Result<JSON, Problem>, _ path: String) -> SourceEntry? {
        do {
            let item = try value.get()
            guard item["content_type"]?.text == "Note", item["deleted"]?.isTrue != true else { return nil }
            guard let content = item["content"], content.text == nil else {
                throw SourceNote.Rejected(reason: "It is encrypted. Export a decrypted backup.")
            }
            guard let uuid = item["uuid"]?.text else { throw SourceNote.Rejected(reason: "It has no ID.") }
            if content["trashed"]?.isTrue == true { return .trashed(path: path) }
            let app = content["appData"]?["org.standardnotes.sn"]
            var draft = SourceNote.Draft(path: path, uniqueID: ImportedNote.uniqueID(app: "standard-notes", id: uuid))
            draft.text = NoteTitle.text(title: content["title"]?.text ?? "", body: StandardNotes.text(of: content))
            draft.tags = tags[uuid] ?? []
            draft.creation = item.date("created_at")
            draft.modification = app?.date("client_updated_at") ?? item.date("updated_at")
            draft.isArchived = app?["archived"]?.isTrue == true || content["archived"]?.isTrue == true
            draft.isPinned = app?["pinned"]?.isTrue == true || content["pinned"]?.isTrue == true
            return .note(try SourceNote(draft))
        } catch let problem as Problem {
            return .skipped(path: path, reason: problem.detail)
        } catch {
            return .skipped(path: path, reason: (error as? SourceNote.Rejected)?.reason ?? "\(error)")
        }
    }

    private static func text(of content: JSON) -> String {
        let text = content["text"]?.text ?? ""
        guard content["noteType"]?.text == "super" else { return text.withLineFeeds }
        return SuperNote.markdown(text) ?? text
    }

    /// Collects the names of the tags of each note. In the backup, each tag lists the notes that have the tag.
    private struct TagCollector {
        private var titles: [String: String] = [:]
        private var parents: [String: String] = [:]
        private var notes: [String: [String]] = [:]

        mutating func add(_ tag: JSON) {
            guard let id = tag["uuid"]?.text, let title = tag["content"]?["title"]?.text else { return }
            titles[id] = title
            for reference in tag["content"]?["references"]?.elements ?? [] {
                guard let other = reference["uuid"]?.text else { continue }
                if reference["reference_type"]?.text == "TagToParentTag" {
                    parents[id] = other
                } else if reference["content_type"]?.text == "Note" {
                    notes[other, default: []].append(id)
                }
            }
        }

        var tagsOfNotes: [String: [String]] {
            notes.mapValues { ids in ids.compactMap(name) }
        }

        /// The name of a tag, preceded by the names of its parent tags, such as `work/mail`.
        private func name(_ id: String) -> String? {
            var names: [String] = []
            var next: String? = id
            var seen: Set<String> = []
            // The set `seen` ends the loop if a tag is its own ancestor.
            while let id = next, let title = titles[id], seen.insert(id).inserted {
                names.append(title.replacing("/", with: "-"))
                next = parents[id]
            }
            return names.isEmpty ? nil : names.reversed().joined(separator: "/")
        }
    }
}
