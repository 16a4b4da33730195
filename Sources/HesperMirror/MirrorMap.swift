import Foundation
import HesperClient
import HesperModel

/// Stores the last known state of the file of each note (``MirrorEntry``). A change of this map and the corresponding edits of
/// notes are saved in the local store in one transaction, so that the process can be killed at any time.
final class MirrorMap {
    let store: LocalStore
    private(set) var entries: [NoteID: MirrorEntry]

    init(_ store: LocalStore) async throws {
        self.store = store
        entries = try await store.read { tx in
            var entries: [NoteID: MirrorEntry] = [:]
            for (name, value) in try tx.locals(withPrefix: Names.entry) {
                guard let id = NoteID(name) else { continue }
                entries[id] = try JSONDecoder().decode(MirrorEntry.self, from: value)
            }
            return entries
        }
    }

    /// The names under which `setLocal` saves the map in the local store.
    fileprivate enum Names {
        static let entry = "mirror.entry."
        static func entry(_ id: NoteID) -> String { "\(entry)\(id)" }
        /// The name of the text that the file had when it was last compared with the note. This text is the base of the next edit.
        static func base(_ id: NoteID) -> String { "mirror.base.\(id)" }
        /// The name of the list of files that are being created.
        static let new = "mirror.new"
        static func former(_ id: NoteID) -> String { "mirror.former.\(id)" }
        /// The prefix of names that end with the path of a deleted note's file. The recent texts of the file are saved under such a
        /// name, because an editor may still show them.
        static let gone = "mirror.gone."
    }

    /// Changes an entry in a transaction. The entry in memory is only changed after the commit.
    private func change<R: Sendable>(
        _ id: NoteID, _ body: @Sendable (WriteTransaction, inout MirrorEntry?) throws -> R
    ) async throws -> R {
        let before = entries[id]
        let (after, result) = try await store.write { tx in
            var entry = before
            let result = try body(tx, &entry)
            if entry != before { try tx.save(entry, of: id) }
            return (entry, result)
        }
        entries[id] = after
        return result
    }

    /// A change of an entry and its note. Several changes can be made in one transaction.
    struct Change: Sendable {
        let id: NoteID
        /// Makes the change. Returns whether it was possible.
        let body: @Sendable (WriteTransaction, inout MirrorEntry?) throws -> Bool
    }

    /// Carries out changes of different notes in one transaction.
    /// - Returns: for each change, whether it was possible.
    func commit(_ changes: [Change]) async throws -> [Bool] {
        let before = changes.map { entries[$0.id] }
        let results = try await store.write { tx in
            try zip(changes, before).map { change, before -> (entry: MirrorEntry?, isDone: Bool) in
                var entry = before
                let isDone = try change.body(tx, &entry)
                if entry != before { try tx.save(entry, of: change.id) }
                return (entry, isDone)
            }
        }
        for (change, result) in zip(changes, results) { entries[change.id] = result.entry }
        return results.map(\.isDone)
    }

    /// Saves the new stamps of files whose bytes were hashed again and have not changed.
    func confirm(_ confirmed: [NoteID: (stamp: FileStamp, hashed: Int64)]) async throws {
        guard !confirmed.isEmpty else { return }
        var changed: [NoteID: MirrorEntry] = [:]
        for (id, (stamp, hashed)) in confirmed {
            guard var entry = entries[id] else { continue }
            (entry.stamp, entry.hashed) = (stamp, hashed)
            changed[id] = entry
        }
        let saved = changed
        try await store.write { tx in
            for (id, entry) in saved { try tx.save(entry, of: id) }
        }
        entries.merge(saved) { $1 }
    }

    /// A note as it is now; nil if it was deleted.
    func current(_ id: NoteID) async throws -> CurrentNote? {
        try await store.read { tx in
            guard let note = try tx.get(id), let version = try tx.version(of: id) else { return nil }
            return CurrentNote(
                id: id, version: version, text: note.text.string, hasCRLF: note.hasCRLF, path: note.path)
        }
    }

    /// The texts that the files of notes had when the files were last compared with the notes.
    func texts(of ids: ArraySlice<NoteID>) async throws -> [NoteID: String] {
        try await store.read { tx in
            var texts: [NoteID: String] = [:]
            for id in ids {
                texts[id] = try tx.local(Names.base(id)).map { String(decoding: $0, as: UTF8.self) }
            }
            return texts
        }
    }

    /// Removes old texts that are saved under ``Names/gone``. The texts of a file are removed together, when the most recent of
    /// them was replaced more than a day ago.
    func removeOldTexts(at now: Double) async throws {
        let old = try await store.read { try $0.locals(withPrefix: Names.gone) }.filter { _, value in
            try JSONDecoder().decode([FormerText].self, from: value).allSatisfy {
                now - $0.replaced > FormerText.lifetime
            }
        }
        guard !old.isEmpty else { return }
        try await store.write { tx in
            for path in old.keys { try tx.setLocal(Names.gone + path, nil) }
        }
    }

    // MARK: New files

    /// Saves the list of the files that are to be created next. It replaces the previous list.
    func announce(_ files: [NewFile]) async throws {
        try await store.write { tx in
            try tx.setLocal(Names.new, files.isEmpty ? nil : try JSONEncoder().encode(files))
        }
    }

    /// Completes the map after a process was killed. The process had saved a list of files that it was about to create. An entry is
    /// added for each of these files that the process had already created.
    /// - Parameter isMade: returns whether a file of the list exists and was created from its note.
    func resume(settingPath: Bool, _ isMade: (NewFile) -> Bool) async throws {
        guard let value = try await store.read({ try $0.local(Names.new) }) else { return }
        for file in try JSONDecoder().decode([NewFile].self, from: value) where isMade(file) {
            try await change(file.id) { tx, entry in
                guard entry == nil, let note = try tx.get(file.id) else { return }
                if settingPath, note.path == nil, !file.isUntitled { try tx.setPath(file.path, of: file.id) }
                entry = MirrorEntry(
                    path: file.path, wish: note.path ?? (file.isUntitled ? nil : file.path),
                    fileHash: FileText.hash(file.bytes),
                    textHash: FileText.hash(of: file.text), hasCRLF: file.hasCRLF, stamp: .none, hashed: 0, version: "",
                    isUntitled: file.isUntitled)
                try tx.setBase(file.text, of: file.id)
            }
        }
        try await announce([])
    }

    // MARK: From files

    /// Makes a note from a file.
    func creation(_ content: FileContent, at path: String, now: Date) -> Change {
        var note = Note(text: MergedText(content.text), creationDate: min(content.date, now))
        note.path = NotePath.isUsable(path) ? path : nil
        note.lineEnds = content.hasCRLF ? Note.crlf : nil
        let made = note
        return Change(id: note.id) { tx, entry in
            try tx.insert(made)
            try tx.setTags(of: made.id, from: "", to: content.text)
            entry = content.entry(path: path, version: try tx.version(of: made.id) ?? "")
            try tx.setBase(content.text, of: made.id)
            return true
        }
    }

    /// Joins a file and a note with equal texts. It does nothing if the texts are no longer equal.
    func adoption(_ id: NoteID, _ content: FileContent, at path: String, settingPath: Bool) -> Change {
        Change(id: id) { tx, entry in
            guard let note = try tx.get(id), note.text == MergedText(content.text) else { return false }
            if settingPath { try tx.setPath(path, of: id) }
            entry = content.entry(path: path, version: try tx.version(of: id) ?? "")
            try tx.setBase(content.text, of: id)
            return true
        }
    }

    /// Joins a note and a file that has a former text of the note. The caller then writes the note's text to the file.
    func adopt(_ id: NoteID, older content: FileContent, at path: String, settingPath: Bool) async throws {
        try await change(id) { tx, entry in
            guard try tx.get(id) != nil else { return }
            if settingPath { try tx.setPath(path, of: id) }
            entry = content.entry(path: path, version: "")
            try tx.setBase(content.text, of: id)
        }
    }

    /// Merges the text of a file into its note.
    /// - Returns: whether the note then differs from the file.
    @discardableResult
    func integrate(_ content: FileContent, into id: NoteID, at now: Double) async throws -> Bool {
        try await change(id) { tx, entry in
            guard var changed = entry else { return false }
            let base = FormerText.base(
                of: content.text, former: try tx.former(of: id), current: try tx.base(of: id), at: now)
            var note = try tx.merge(content.text, base: base.text, into: id)
            try tx.setTags(of: id, from: base.text, to: content.text)
            if content.text.utf8.contains(0x0a), content.hasCRLF != note.hasCRLF {
                note = try tx.update(id) { $0.lineEnds = content.hasCRLF ? Note.crlf : nil }
            }
            changed.setContent(
                file: content.hash, text: FileText.hash(of: content.text), hasCRLF: content.hasCRLF, content.stamp,
                at: content.hashed)
            let isEqual = note.text == MergedText(content.text) && note.hasCRLF == content.hasCRLF
            changed.version = isEqual ? try tx.version(of: id) ?? "" : ""
            entry = changed
            try tx.setBase(content.text, of: id)
            // The editor now shows this text. When the editor saves again, the saved text is based on this text, or on a later text
            // that the mirror has written to the file.
            let saved = FormerText(text: content.text, replaced: now, wasSavedStale: true)
            try tx.setFormer(base.isStale ? [saved] : [], of: id)
            return !isEqual
        }
    }

    /// Records that the user moved a file, and sets the path of its note.
    func follow(_ id: NoteID, to path: String) async throws {
        try await change(id) { tx, entry in
            guard var changed = entry else { return }
            let isCurrent = try tx.version(of: id) == changed.version
            (changed.path, changed.isUntitled) = (path, false)
            changed.absence = nil
            if try tx.get(id) != nil { try tx.setPath(path, of: id) }
            changed.wish = path
            if isCurrent, let version = try tx.version(of: id) { changed.version = version }
            entry = changed
        }
    }

    func miss(_ id: NoteID, at now: Double) async throws {
        try await change(id) { _, entry in
            let before = entry?.absence
            entry?.absence = .counting(before, at: now)
        }
    }

    func regain(_ id: NoteID) async throws {
        try await change(id) { _, entry in entry?.absence = nil }
    }

    /// Deletes a note whose file was deleted.
    /// - Returns: false if the note's text is no longer the text that the file had.
    func delete(_ id: NoteID) async throws -> Bool {
        try await change(id) { tx, entry in
            guard let note = try tx.get(id) else { return true }
            guard FileText.hash(of: note.text.string) == entry?.textHash else { return false }
            try tx.delete(id)
            try tx.forget(id, at: entry?.path)
            entry = nil
            return true
        }
    }

    /// Merges a text that was written to a file after the mirror had replaced the file.
    /// - Returns: false if the note was deleted.
    func integrate(late text: String, base: String, into id: NoteID) async throws -> Bool {
        try await change(id) { tx, entry in
            guard entry != nil, try tx.get(id) != nil else { return false }
            try tx.merge(text, base: base, into: id)
            try tx.setTags(of: id, from: base, to: text)
            // No version of a note is the empty string. So the next round finds that the note has changed since this version, and
            // writes the merged text to the file.
            entry?.version = ""
            return true
        }
    }

    /// Whether a file has or had contents with this hash.
    func knows(_ hash: String) -> Bool {
        entries.values.contains { $0.fileHash == hash || $0.formerHashes.contains(hash) }
    }

    // MARK: From notes

    /// Records that the text of a note was written to its file.
    /// - Returns: the text that the file had before.
    @discardableResult
    func wrote(_ note: CurrentNote, hash: String, _ stamp: FileStamp, at now: Double) async throws -> String {
        try await change(note.id) { tx, entry in
            guard var changed = entry else { return "" }
            let base = try tx.base(of: note.id)
            var former = try tx.former(of: note.id)
            if former.last?.text != base || former.last?.wasSavedStale != true {
                former = FormerText.adding(FormerText(text: base, replaced: now), to: former)
            }
            changed.setContent(
                file: hash, text: FileText.hash(of: note.text), hasCRLF: note.hasCRLF, stamp, at: Folder.now)
            // If the note was changed since it was read, its version now differs from this version, and the next round writes the
            // file again.
            changed.version = note.version
            entry = changed
            try tx.setBase(note.text, of: note.id)
            try tx.setFormer(former, of: note.id)
            return base
        }
    }

    /// Records that a file was created from a note.
    func making(
        _ note: CurrentNote, _ content: FileContent, at path: String, isUntitled: Bool, settingPath: Bool
    ) -> Change {
        Change(id: note.id) { tx, entry in
            var version = note.version
            if settingPath, note.path == nil, try tx.get(note.id) != nil {
                let isCurrent = try tx.version(of: note.id) == version
                try tx.setPath(path, of: note.id)
                if isCurrent { version = try tx.version(of: note.id) ?? "" }
            }
            var made = content.entry(path: path, version: version)
            made.isUntitled = isUntitled
            made.wish = note.path ?? (isUntitled ? nil : path)
            entry = made
            try tx.setBase(content.text, of: note.id)
            // A deleted note may have had this path, and an editor may still show its text. The editor may later save an edited
            // version of that text.
            try tx.setFormer(try tx.gone(path), of: note.id)
            return true
        }
    }

    /// Records that a file was moved because its note's path or title was changed.
    func relocate(_ id: NoteID, to path: String, _ stamp: FileStamp, settingPath: Bool) async throws {
        try await change(id) { tx, entry in
            guard var changed = entry else { return }
            let isCurrent = try tx.version(of: id) == changed.version
            (changed.path, changed.stamp, changed.isUntitled) = (path, stamp, false)
            if settingPath, try tx.get(id) != nil { try tx.setPath(path, of: id) }
            changed.wish = path
            if isCurrent, let version = try tx.version(of: id) { changed.version = version }
            entry = changed
        }
    }

    /// Removes the connection between a file and its note, which was deleted on another device. The file then belongs to the note
    /// `rescue`. If `rescue` is nil, the file becomes a new note in the next round.
    func detach(_ id: NoteID, path: String, into rescue: NoteID?) async throws {
        let (before, settled) = (entries[id], rescue)
        let moved: MirrorEntry? = try await store.write { tx in
            var moved: MirrorEntry?
            if let rescue = settled, var entry = before, try tx.get(rescue) != nil {
                try tx.setBase(try tx.base(of: id), of: rescue)
                try tx.setFormer(try tx.former(of: id), of: rescue)
                try tx.setPath(path, of: rescue)
                (entry.path, entry.wish, entry.version) = (path, path, "")
                try tx.save(entry, of: rescue)
                moved = entry
            }
            try tx.save(nil, of: id)
            try tx.forget(id)
            return moved
        }
        entries[id] = nil
        if let rescue { entries[rescue] = moved }
    }

    /// Removes the entry of a note, and the texts that are saved for the entry.
    func forget(_ id: NoteID) async throws {
        try await change(id) { tx, entry in
            try tx.forget(id, at: entry?.path)
            entry = nil
        }
    }

    /// Records the version of a note that was changed in a way that does not concern its file.
    func noting(_ id: NoteID) -> Change {
        Change(id: id) { tx, entry in
            guard let note = try tx.get(id), let version = try tx.version(of: id),
                FileText.hash(of: note.text.string) == entry?.textHash
            else { return true }
            entry?.version = version
            entry?.wish = note.path
            return true
        }
    }
}

extension WriteTransaction {
    fileprivate func save(_ entry: MirrorEntry?, of id: NoteID) throws {
        try setLocal(MirrorMap.Names.entry(id), try entry.map { try JSONEncoder().encode($0) })
    }

    fileprivate func base(of id: NoteID) throws -> String {
        String(decoding: try local(MirrorMap.Names.base(id)) ?? Data(), as: UTF8.self)
    }

    fileprivate func setBase(_ text: String, of id: NoteID) throws {
        try setLocal(MirrorMap.Names.base(id), Data(text.utf8))
    }

    fileprivate func former(of id: NoteID) throws -> [FormerText] {
        guard let value = try local(MirrorMap.Names.former(id)) else { return [] }
        return try JSONDecoder().decode([FormerText].self, from: value)
    }

    fileprivate func setFormer(_ former: [FormerText], of id: NoteID) throws {
        try setLocal(MirrorMap.Names.former(id), former.isEmpty ? nil : try JSONEncoder().encode(former))
    }

    fileprivate func setPath(_ path: String, of id: NoteID) throws {
        guard NotePath.isUsable(path) else { return }
        try update(id) { $0.path = path }
    }

    /// Updates the tags of a note after an edit of its front matter: adds the tags that are only in the front matter of `text`, and
    /// removes the tags that are only in the front matter of `base`. All other tags of the note stay.
    fileprivate func setTags(of id: NoteID, from base: String, to text: String) throws {
        let (before, after) = (FrontMatter(base)?.tags ?? [], FrontMatter(text)?.tags ?? [])
        guard before != after else { return }
        let (former, new) = (Set(before.map(TagName.fold)), Set(after.map(TagName.fold)))
        guard former != new else { return }
        var known: [String: ObjectID<HesperClient.Tag>] = [:]
        for tag in try all(HesperClient.Tag.self) { known[TagName.fold(tag.name)] = tag.id }
        var added: [ObjectID<HesperClient.Tag>] = []
        for name in after where !former.contains(TagName.fold(name)) {
            guard case .success = FieldValue.tagName(.string(name)) else { continue }
            let tag = try known[TagName.fold(name)] ?? insert(HesperClient.Tag(name: name)).id
            known[TagName.fold(name)] = tag
            added.append(tag)
        }
        let removed = former.subtracting(new).compactMap { known[$0] }
        try update(id) { note in
            for tag in added { note.tags.insert(tag) }
            for tag in removed { note.tags.remove(tag) }
        }
    }

    /// The texts that were saved when the note with the file at this path was deleted. An editor may still show them.
    fileprivate func gone(_ path: String) throws -> [FormerText] {
        guard let value = try local(MirrorMap.Names.gone + path) else { return [] }
        return try JSONDecoder().decode([FormerText].self, from: value)
    }

    /// Removes the texts that are saved for an entry.
    /// - Parameter path: the path of the entry's file, or nil. If a path is given, the texts are moved to ``MirrorMap/Names/gone``,
    ///   because an editor may still show them.
    fileprivate func forget(_ id: NoteID, at path: String? = nil) throws {
        if let path {
            let shown = FormerText(text: try base(of: id), replaced: Date().timeIntervalSince1970)
            let former = FormerText.adding(shown, to: try former(of: id))
            try setLocal(MirrorMap.Names.gone + path, try JSONEncoder().encode(former))
        }
        try setLocal(MirrorMap.Names.base(id), nil)
        try setLocal(MirrorMap.Names.former(id), nil)
    }
}

extension Note {
    /// The value of ``lineEnds`` in a note whose file has CR LF line ends.
    static let crlf = "crlf"
    var hasCRLF: Bool { lineEnds == Note.crlf }
}

extension MirrorNote.Detail {
    init(_ note: Note) {
        let text = note.text.string
        self.init(
            textHash: FileText.hash(of: text), isEmpty: text.isEmpty,
            wish: note.path.flatMap { NotePath.isUsable($0) ? $0 : nil },
            stem: NotePath.stem(ofNote: text), hasCRLF: note.hasCRLF, creation: note.creationDate)
    }
}
