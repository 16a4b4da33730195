import Foundation
import HesperModel

/// The actions of one round for notes and their files. They are computed, without I/O, from the files of the folder, the entries of
/// the mirror, and the notes of the store.
struct MirrorPlan: Sendable {
    enum Action: Equatable, Sendable {
        /// The user moved the file: its path is set in the entry and in the note.
        case follow(NoteID, from: String, to: String)
        /// The file was changed: its text is merged into the note.
        case edit(NoteID, path: String)
        /// A file without a note becomes a note.
        case create(path: String)
        /// A file without a note and a note without a file have the same text: they are joined.
        case adopt(NoteID, path: String)
        /// A file and a note belong together, but their texts differ: they are joined if the file has a former text of the note.
        case reconcile(NoteID, path: String)
        /// The note was changed: its text is written to the file. A missing file is created again.
        case write(NoteID, path: String)
        /// A note without a file gets a file.
        case make(NoteID, path: String, isUntitled: Bool)
        /// The note's path was changed on another device, or an untitled note has got a title: the file is moved.
        case relocate(NoteID, from: String, to: String)
        /// The note was deleted on another device: the file is moved to the trash.
        case trash(NoteID, path: String)
        /// The note was deleted on another device, but its file was changed on this device. If text of the note was kept in another
        /// note, the file is assigned to that note. Otherwise, the file becomes a new note.
        case detach(NoteID, path: String, into: NoteID?)
        /// The file is missing: the scan is counted (``Absence``). If the file does not return, its note is deleted later.
        case miss(NoteID)
        /// The file has returned: it is no longer counted as missing.
        case regain(NoteID)
        /// The file has been missing long enough, or the deletion was confirmed: the note is deleted.
        case delete(NoteID)
        /// The note and the file are both gone: the entry is removed.
        case forget(NoteID)
        /// The note was changed in a way that does not concern its file: its version is recorded.
        case note(NoteID)
    }

    /// A question to the user, about changes that are made only after the user has confirmed them.
    enum Question: Equatable, Sendable {
        /// Whether to delete these notes. Asked if many or all files of notes are missing.
        case deletions([NoteID])
        /// Whether to send the changes of these notes. Asked if many files have returned to older versions, for example by
        /// `git checkout`.
        case reversions([NoteID])
        /// Whether to remove these attachments. Asked if many files of attachments are missing.
        case attachments([AttachmentID])
    }

    private(set) var actions: [Action] = []
    private(set) var questions: [Question] = []
    private(set) var skipped: [SkippedFile] = []
    /// Whether some files were changed a moment ago, so that another round must follow soon.
    private(set) var isSettling = false
    /// The time of the oldest change that makes ``isSettling`` true, in nanoseconds since 1970; nil if ``isSettling`` is false.
    private(set) var settlingSince: Int64?
    /// The notes that are deleted in a later round if their missing files do not return. Notes for which the user must answer a
    /// question first are not included.
    private(set) var waiting: [NoteID] = []
    /// All notes whose files are missing, except notes whose texts were changed since they were last compared with their files.
    private(set) var missing: [NoteID] = []

    /// The input from which a plan is computed.
    struct Situation: Sendable {
        /// The name of the folder, from which `hesper import` derives the IDs of notes.
        var folderName = ""
        var files: [FolderFile] = []
        /// Paths that new files cannot have, because something other than the file of a note is there.
        var others: [String] = []
        /// Whether the file system treats names that differ in case as equal.
        var foldsNames = false
        /// Prefixes of paths, each with a slash at the end. A path with such a prefix cannot be used, because the folder is
        /// ignored, cannot be read, or is a symbolic link.
        var closed: [String] = []
        var entries: [NoteID: MirrorEntry] = [:]
        var notes: [NoteID: MirrorNote] = [:]
        /// For each deleted note that has an entry: the note in which its text was kept, if there is one. This device may not have
        /// received that note yet.
        var continuations: [NoteID: NoteID] = [:]
        /// Whether the store may still be receiving notes from the server.
        var isReceiving = false
        var now = Date()
        /// Whether the mirror may change only files, not notes.
        var isPullOnly = false
        /// Whether the user has already confirmed deletions and reversions, so that no questions about them are asked.
        var isConfirmed = false
    }

    /// If at least this number of files have returned to older versions in one round, the user must confirm that they are synced.
    /// This can happen after `git checkout`, for example.
    static let reversionLimit = 20

    /// The notes that take over the files of deleted notes, because the texts of the deleted notes were saved in them.
    private var continued: Set<NoteID> = []
    private let situation: Situation
    private var files: [String: FolderFile]
    /// The paths that a new file cannot have, compared exactly.
    private var paths: Set<String>
    /// The paths that a new file cannot have, compared without regard to case. They are collected when the first new name is
    /// needed.
    private var names: FileNames?

    init(_ situation: Situation) {
        self.situation = situation
        files = Dictionary(situation.files.map { ($0.path, $0) }) { first, _ in first }
        paths = Set(files.keys).union(situation.others)
        for (id, entry) in situation.entries where situation.notes[id] != nil { paths.insert(entry.path) }
        let located = locate()
        var missing: [NoteID] = []
        var reverted: [(id: NoteID, path: String)] = []
        for (id, entry) in situation.entries.sorted(by: { $0.value.path < $1.value.path }) {
            let file = located[id] ?? files[entry.path]
            if let file { files[file.path] = nil }
            if let file, file.path != entry.path, !situation.isPullOnly {
                actions.append(.follow(id, from: entry.path, to: file.path))
            } else if file != nil, entry.absence != nil {
                actions.append(.regain(id))
            }
            guard let note = situation.notes[id] else {
                planWithoutNote(id, entry, file)
                continue
            }
            guard let file else {
                if planMissing(id, entry, note) { missing.append(id) }
                continue
            }
            if plan(id, entry, file, note) { reverted.append((id, file.path)) }
        }
        planDeletions(missing)
        planReversions(reverted)
        planTheRest()
    }

    // MARK: Files that were moved

    /// For each entry that has no file at its path, finds the file if the user has moved it. A moved file is identified by its
    /// inode number and the creation time of its inode. If there is no such file, the moved file is identified by its hash, unless
    /// several files or several of these entries have the same hash.
    private mutating func locate() -> [NoteID: FolderFile] {
        let paths = Set(situation.entries.values.map(\.path))
        let missing = situation.entries.filter { files[$0.value.path] == nil }
        guard !missing.isEmpty else { return [:] }
        let new = situation.files.filter { !paths.contains($0.path) }
        let byInode = Dictionary(grouping: new) { $0.stamp.inode }
        var located: [NoteID: FolderFile] = [:]
        var taken: Set<String> = []
        for (id, entry) in missing {
            let same = (byInode[entry.stamp.inode] ?? []).filter { $0.stamp.isSameFile(as: entry.stamp) }
            // Several files with one inode are hard links. The moved file cannot be identified among them.
            guard same.count == 1, same[0].isNote, taken.insert(same[0].path).inserted else { continue }
            located[id] = same[0]
        }
        let byHash = Dictionary(grouping: new.filter { $0.hash != nil && !taken.contains($0.path) }) { $0.hash }
        let missingByHash = Dictionary(grouping: missing.filter { located[$0.key] == nil }) { $0.value.fileHash }
        for (hash, group) in missingByHash where group.count == 1 {
            guard let found = byHash[hash], found.count == 1, found[0].stamp.size > 0 else { continue }
            located[group[0].key] = found[0]
        }
        return located
    }

    // MARK: Notes with a file

    /// Plans the actions for a note that has a file.
    /// - Returns: whether the file has returned to an older version.
    private mutating func plan(_ id: NoteID, _ entry: MirrorEntry, _ file: FolderFile, _ note: MirrorNote) -> Bool {
        guard let hash = file.hash else {
            skip(file)
            return false
        }
        if hash != entry.fileHash {
            if file.stamp.size == 0 {
                skipped.append(SkippedFile(path: file.path, reason: .becameEmpty))
            } else if situation.isPullOnly {
                skipped.append(SkippedFile(path: file.path, reason: .pullOnly))
            } else if entry.formerHashes.contains(hash) {
                return true
            } else {
                actions.append(.edit(id, path: file.path))
            }
            return false
        }
        guard note.version != entry.version, let detail = note.detail else { return false }
        var isDone = true
        if detail.textHash != entry.textHash || detail.hasCRLF != entry.hasCRLF && !detail.isEmpty {
            actions.append(.write(id, path: file.path))
            isDone = false
        }
        if let path = newPath(entry, file, detail) {
            actions.append(.relocate(id, from: file.path, to: path))
            isDone = false
        }
        if isDone { actions.append(.note(id)) }
        return false
    }

    /// The new path of a file whose note was changed; nil if the file is not moved.
    private mutating func newPath(_ entry: MirrorEntry, _ file: FolderFile, _ detail: MirrorNote.Detail) -> String? {
        // A file that the user moved stays at its new path.
        guard file.path == entry.path else { return nil }
        if let wish = wish(detail), wish != entry.wish, wish != entry.path {
            return take(wish, of: entry) ? wish : nil
        }
        guard entry.isUntitled, detail.stem != NotePath.untitled, !situation.isPullOnly else { return nil }
        let folder = NotePath.folders(of: entry.path).map { $0 + "/" }.joined()
        return newName(folder: folder, detail.stem, ending: ".md")
    }

    /// The path that is set in a note, if it can be used.
    private func wish(_ detail: MirrorNote.Detail) -> String? {
        detail.wish.flatMap { wish in situation.closed.contains { wish.hasPrefix($0) } ? nil : wish }
    }

    // MARK: Names

    private func takenNames() -> FileNames {
        if let names { return names }
        var names = FileNames()
        // The paths of files that are moved to the trash can be used for other files.
        let ending = Set(actions.compactMap { if case .trash(_, let path) = $0 { path } else { nil } })
        for file in situation.files where !ending.contains(file.path) { names.take(file.path) }
        for path in situation.others { names.take(path) }
        for (id, entry) in situation.entries where situation.notes[id] != nil { names.take(entry.path) }
        return names
    }

    /// Makes the path of a new file. No existing file has this path.
    private mutating func newName(folder: String, _ stem: String, ending: String) -> String {
        var names = takenNames()
        self.names = nil
        defer { self.names = names }
        return names.path(folder: folder, stem, ending: ending)
    }

    /// Reserves a path for a file, unless another file has the path.
    /// - Returns: whether the path was free.
    private mutating func take(_ path: String, of entry: MirrorEntry) -> Bool {
        var names = takenNames()
        self.names = nil
        defer { self.names = names }
        // If the file system distinguishes case, paths are compared exactly. If only the case of the file's path changes, paths are
        // compared exactly too, because the new path would otherwise be equal to the file's own old path.
        if !situation.foldsNames || FileNames.areEqual(path, entry.path) { return paths.insert(path).inserted }
        return names.take(path)
    }

    private mutating func skip(_ file: FolderFile) {
        switch file.content {
        case .settling:
            isSettling = true
            settlingSince = min(settlingSince ?? .max, file.stamp.changed)
        case .unusable(let reason): skipped.append(SkippedFile(path: file.path, reason: reason))
        case .text: break
        }
    }

    /// Plans the actions for a note whose file is missing.
    /// - Returns: whether the note may be deleted.
    private mutating func planMissing(_ id: NoteID, _ entry: MirrorEntry, _ note: MirrorNote) -> Bool {
        if note.version != entry.version, let detail = note.detail, detail.textHash != entry.textHash {
            // The user who deleted the file has not seen the new text of the note, so the file is written again.
            actions.append(.write(id, path: entry.path))
            return false
        }
        return true
    }

    private mutating func planDeletions(_ missing: [NoteID]) {
        self.missing = missing
        guard !missing.isEmpty, !situation.isPullOnly else { return }
        let isMany = Absence.areMany(missing.count, of: situation.entries.count)
        let isEmpty = !situation.files.contains { $0.isNote }
        if (isMany || isEmpty) && !situation.isConfirmed {
            questions.append(.deletions(missing))
            return
        }
        for id in missing {
            let isDue = situation.entries[id]?.absence?.isDue(at: situation.now.timeIntervalSince1970) == true
            if isDue || situation.isConfirmed {
                actions.append(.delete(id))
            } else {
                actions.append(.miss(id))
                waiting.append(id)
            }
        }
    }

    private mutating func planReversions(_ reverted: [(id: NoteID, path: String)]) {
        if reverted.count >= MirrorPlan.reversionLimit && !situation.isConfirmed {
            questions.append(.reversions(reverted.map(\.id)))
        } else {
            actions += reverted.map { .edit($0.id, path: $0.path) }
        }
    }

    // MARK: Files whose notes are gone

    private mutating func planWithoutNote(_ id: NoteID, _ entry: MirrorEntry, _ file: FolderFile?) {
        guard let file else {
            actions.append(.forget(id))
            return
        }
        let continuation = situation.continuations[id].flatMap { situation.entries[$0] == nil ? $0 : nil }
        guard let hash = file.hash else {
            skip(file)
            if let continuation, file.content == .settling { continued.insert(continuation) }
            return
        }
        if hash == entry.fileHash {
            actions.append(.trash(id, path: file.path))
        } else if situation.isPullOnly {
            skipped.append(SkippedFile(path: file.path, reason: .pullOnly))
        } else if let continuation, situation.notes[continuation] == nil, situation.isReceiving {
            // This device has not received the note in which the text was kept. Nothing is done with the file until the note
            // arrives. The arrival of the note starts another round.
            return
        } else {
            let into = continuation.flatMap { situation.notes[$0] == nil || continued.contains($0) ? nil : $0 }
            if let into { continued.insert(into) }
            actions.append(.detach(id, path: file.path, into: into))
        }
    }

    // MARK: Files and notes without each other

    private mutating func planTheRest() {
        var notes = situation.notes.filter { situation.entries[$0.key] == nil && !continued.contains($0.key) }
        let new = files.values.sorted { $0.path < $1.path }
        var free: [FolderFile] = []
        var settling: Set<String> = []
        for file in new {
            if file.hash != nil {
                if file.stamp.size > 0 { free.append(file) }
            } else {
                if file.content == .settling { settling.insert(file.path) }
                skip(file)
            }
        }
        pair(&free, &notes)
        for file in free {
            if situation.isPullOnly {
                skipped.append(SkippedFile(path: file.path, reason: .pullOnly))
            } else {
                actions.append(.create(path: file.path))
            }
        }
        make(notes, settling: settling)
    }

    /// Pairs files with notes, in three steps. The first step pairs each file with the note that has the same path. The second step
    /// uses the note ID that `hesper import` derives from the path of a file. The third step pairs files with notes that have the
    /// same text.
    private mutating func pair(_ files: inout [FolderFile], _ notes: inout [NoteID: MirrorNote]) {
        guard !files.isEmpty, !notes.isEmpty else { return }
        func take(_ candidates: (FolderFile) -> [NoteID]) {
            files.removeAll { file in
                let found = candidates(file).filter { notes[$0] != nil }.sorted()
                let equal = found.first { notes[$0]?.detail?.textHash == file.textHash }
                guard let id = equal ?? found.first, notes.removeValue(forKey: id) != nil else { return false }
                actions.append(equal != nil ? .adopt(id, path: file.path) : .reconcile(id, path: file.path))
                return true
            }
        }
        let wishes = Dictionary(grouping: notes.keys.filter { notes[$0]?.detail?.wish != nil }) {
            notes[$0]?.detail?.wish ?? ""
        }
        take { wishes[$0.path] ?? [] }
        let folder = situation.folderName
        take { [NoteID(ImportedNote.uniqueID(folder: folder, path: $0.path))] }
        let texts = Dictionary(grouping: notes.keys) { notes[$0]?.detail?.textHash ?? "" }
        take { file in file.textHash.flatMap { texts[$0] } ?? [] }
    }

    private mutating func make(_ notes: [NoteID: MirrorNote], settling: Set<String>) {
        let order = notes.compactMap { id, note in note.detail.map { (id: id, detail: $0) } }.sorted { one, other in
            let ranks = [one, other].map { $0.detail.wish == nil ? 1 : 0 }
            return (ranks[0], one.detail.creation, one.id) < (ranks[1], other.detail.creation, other.id)
        }
        for (id, detail) in order {
            if let wish = wish(detail) {
                // Another program is writing a file at the note's path. The file may turn out to be the file of the note.
                if settling.contains(wish) { continue }
                let parts = NotePath.parts(of: wish)
                let isFree = !situation.foldsNames && paths.insert(wish).inserted
                let path = isFree ? wish : newName(folder: "", parts.stem, ending: parts.ending)
                actions.append(.make(id, path: path, isUntitled: false))
            } else {
                let path = newName(folder: "", detail.stem, ending: ".md")
                actions.append(.make(id, path: path, isUntitled: detail.isEmpty || detail.stem == NotePath.untitled))
            }
        }
    }
}

extension FolderFile {
    /// Whether the file counts as the file of a note. Conflict copies and files with invalid names do not: they are only reported
    /// as skipped.
    fileprivate var isNote: Bool {
        switch content {
        case .text, .settling: true
        case .unusable(let reason): reason != .conflictCopy && reason != .name
        }
    }
}
