import HesperArchive
import HesperModel

/// Reads an export of Simplenote: the file `source/notes.json`. The source may be this file, or a folder or a zip archive that
/// contains it. The export also contains the notes as text files, which have no dates and are not read.
struct Simplenote: SourceReader {
    /// The source. This reference keeps the temporary files of an unpacked archive until the notes are read.
    private let source: SourceFiles
    private let file: SourceFile
    private let titles: [String: String]
    let count: Int

    /// - Returns: nil if the source is not an export of Simplenote.
    init?(_ source: SourceFiles, _ limits: SourceLimits) async throws {
        let file = source.files.first { file in
            file.name == "notes.json" && file.folders.count <= 2
                && JSONFile(file).begins(with: "activeNotes", "trashedNotes")
        }
        guard let file else { return nil }
        (self.source, self.file) = (source, file)
        var (titles, count): ([String: String], Int) = ([:], 0)
        // A document that ends too early is reported when its notes are read.
        try await JSONFile(file).readBeginning { location, value in
            guard location.member == "activeNotes" else { return }
            count += 1
            guard count <= limits.entries else { throw limits.tooManyEntries }
            guard case .success(let note) = value, let id = note["id"]?.text else { return }
            titles[id] = NoteTitle.of(note["content"]?.text ?? "")
        }
        (self.titles, self.count) = (titles, count)
    }

    func read(_ body: (SourceEntry) async throws -> Void) async throws {
        var numbers: [String: Int] = [:]
        do {
            try await JSONFile(file).readEach { location, value in
                let number = numbers[location.member, default: 0] + 1
                numbers[location.member] = number
                let path = "\(file.path), note \(number)"
                switch location.member {
                case "activeNotes": try await body(entry(value, path))
                case "trashedNotes", "trashNotes": try await body(.trashed(path: path))
                default: break
                }
            }
        } catch let rejected as SourceNote.Rejected {
            try await body(.skipped(path: file.path, reason: rejected.reason))
        }
    }

    private func entry(_ value: Result<JSON, Problem>, _ path: String) -> SourceEntry {
        do {
            let json = try value.get()
            guard let content = json["content"]?.text else {
                throw SourceNote.Rejected(reason: "It has no text.")
            }
            if json["deleted"]?.isTrue == true { return .trashed(path: path) }
            let creation = json.date("creationDate")
            // In old exports, notes have no IDs.
            let id = json["id"]?.text ?? "\(creation?.description ?? "")\n\(content)"
            var draft = SourceNote.Draft(path: path, uniqueID: ImportedNote.uniqueID(app: "simplenote", id: id))
            draft.text = LinkRewriter.rewrite(content.withLineFeeds) { mention in
                let scheme = "simplenote://note/"
                guard mention.address.hasPrefix(scheme) else { return nil }
                return titles[String(mention.address.dropFirst(scheme.count))].map { .note(title: $0) }
            }
            (draft.creation, draft.modification) = (creation, json.date("lastModified"))
            draft.tags = json["tags"]?.elements.compactMap(\.text) ?? []
            draft.isPinned = json["pinned"]?.isTrue == true
            return .note(try SourceNote(draft))
        } catch let problem as Problem {
            return .skipped(path: path, reason: problem.detail)
        } catch {
            return .skipped(path: path, reason: (error as? SourceNote.Rejected)?.reason ?? "\(error)")
        }
    }
}
