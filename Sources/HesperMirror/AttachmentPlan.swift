import Foundation
import HesperModel

/// The actions of one round for attachments and their files. They are computed, without I/O, from the files of the folder, the
/// links of the notes, the entries of the mirror, and the attachments of the store.
struct AttachmentPlan: Sendable {
    enum Action: Equatable, Sendable {
        /// A file to which a note links becomes an attachment of the note.
        case create(path: String, note: NoteID?)
        /// A file without an attachment and an attachment without a file have the same bytes: they are joined.
        case adopt(AttachmentID, path: String)
        /// The bytes of the file were changed: a new attachment takes the place of the old one.
        case replace(AttachmentID, path: String)
        /// The user moved the file: a new attachment with the new path takes the place of the old one.
        case follow(AttachmentID, from: String, to: String)
        /// The note of the attachment was deleted or no longer links to the file, but another note links to the file: the other
        /// note gets the attachment.
        case handOver(AttachmentID, path: String, to: NoteID)
        /// An attachment without a file gets a file.
        case make(AttachmentID, path: String)
        /// The bytes of an attachment without a file must be downloaded first.
        case fetch(AttachmentID)
        /// The attachment was replaced on another device by a new attachment with the same bytes: the file is assigned to the new
        /// attachment, and is moved to the path of the new attachment.
        case renew(AttachmentID, as: AttachmentID, from: String, to: String)
        /// This attachment has no file. Another attachment has a file, and both attachments have the same path and bytes. The notes
        /// of both attachments link to the file: this attachment is removed from its note.
        case drop(AttachmentID)
        /// This attachment has a file. A second attachment has no file, and both attachments have the same path and bytes: the file
        /// is assigned to the second attachment, and this attachment is removed from its note.
        case yield(AttachmentID, to: AttachmentID)
        /// The attachment was removed on another device: the file is moved to the trash.
        case trash(AttachmentID, path: String)
        /// The file is missing: the scan is counted (``Absence``). If the file does not return, the attachment is removed later.
        case miss(AttachmentID)
        /// The file has returned: it is no longer counted as missing.
        case regain(AttachmentID)
        /// The file has been missing long enough, or the deletion was confirmed: the attachment is removed from its note.
        case remove(AttachmentID)
        /// No note has the attachment any more: the entry is removed. If the file exists, it stays in the folder as an ordinary
        /// file.
        case forget(AttachmentID)
        /// The attachment now belongs to a different note, or its note now links to the file: the entry is updated.
        case note(AttachmentID, NoteID, isLinked: Bool)
    }

    private(set) var actions: [Action] = []
    private(set) var questions: [MirrorPlan.Question] = []
    private(set) var skipped: [SkippedFile] = []
    /// See ``MirrorPlan/isSettling``.
    private(set) var isSettling = false
    /// Whether an attachment was left for the next round.
    private(set) var isIncomplete = false
    /// See ``MirrorPlan/settlingSince``.
    private(set) var settlingSince: Int64?
    /// The attachments that are removed in a later round if their missing files do not return. Attachments for which the user must
    /// answer a question first are not included.
    private(set) var waiting: [AttachmentID] = []
    /// All attachments whose files are missing.
    private(set) var missing: [AttachmentID] = []

    /// The input from which a plan is computed.
    struct Situation: Sendable {
        /// All files to which notes link, and all files that belong or may belong to attachments, by path. Other files may be left
        /// out.
        var files: [String: AttachableFile] = [:]
        /// The attachments whose files may exist although they were not found. The value is the reason, such as an unmounted file
        /// system.
        var unseen: [AttachmentID: SkippedFile.Reason] = [:]
        /// The paths of all files, folders and entries. A new file cannot have one of these paths.
        var paths: Set<String> = []
        /// Whether the file system treats names that differ in case as equal.
        var foldsNames = false
        /// Prefixes of paths, each with a slash at the end. A path with such a prefix cannot be used, because the folder is
        /// ignored, cannot be read, or is a symbolic link.
        var closed: [String] = []
        var entries: [AttachmentID: AttachmentEntry] = [:]
        /// The attachments that belong to a note.
        var attachments: [AttachmentID: MirrorAttachment] = [:]
        /// All attachments that exist, including those that belong to no note.
        var existing: Set<AttachmentID> = []
        /// The attachments that have an entry but are not on the server.
        var unsent: Set<AttachmentID> = []
        /// The attachments that the server refused.
        var refused: Set<AttachmentID> = []
        /// For the path of each file, the notes that link to the file, in the order of the notes' paths.
        var linkers: [String: [Linker]] = [:]
        /// The notes whose text is in a file of the folder. The links in the texts of other notes are not known.
        var linking: Set<NoteID> = []
        /// The notes that arrived or were changed after the round had begun. The next round writes their files, and then knows their
        /// links.
        var arriving: Set<NoteID> = []
        /// The maximum size of an attachment; nil if it is not known.
        var largest: Int64?
        var now = Date()
        var isPullOnly = false
        var isConfirmed = false
        /// Whether attachments whose files are missing are kept. It is true while the user has not answered a question about the
        /// deletion of notes.
        var keepsAll = false
        /// Whether some files have not become notes yet. Until their links are known, no file is moved to the trash.
        var isUnfinished = false
    }

    private let situation: Situation
    private var files: [String: AttachableFile]
    /// The attachments that have no entry, and to which this plan has not assigned a file yet.
    private var free: [AttachmentID: MirrorAttachment]
    /// The attachments that keep or get a file in this round, by the path of the file.
    private var kept: [String: AttachmentID] = [:]
    /// The paths that a new file cannot have, compared exactly.
    private var paths: Set<String>
    /// The paths that a new file cannot have, compared without regard to case. They are collected when the first new name is
    /// needed.
    private var names: FileNames?

    init(_ situation: Situation) {
        self.situation = situation
        (files, paths) = (situation.files, situation.paths)
        free = situation.attachments.filter { situation.entries[$0.key] == nil }
        let located = locate()
        for (id, entry) in situation.entries.sorted(by: { ($0.value.path, $0.key) < ($1.value.path, $1.key) }) {
            let file = located[id] ?? files[entry.path]
            if let file { files[file.path] = nil }
            if let attachment = situation.attachments[id] {
                plan(id, entry, attachment, file)
            } else {
                planGone(id, entry, file)
            }
        }
        planMissing()
        planFree()
        planNew()
    }

    // MARK: Files that were moved

    /// For each entry that has no file at its path, finds the file if the user has moved it. A moved file is identified by its
    /// inode number and the creation time of its inode. If there is no such file, the moved file is identified by its hash, unless
    /// several files or several of these entries have the same hash.
    private func locate() -> [AttachmentID: AttachableFile] {
        let missing = situation.entries.filter { files[$0.value.path] == nil && situation.unseen[$0.key] == nil }
        guard !missing.isEmpty else { return [:] }
        let paths = Set(situation.entries.values.map(\.path))
        let new = files.values.filter { !paths.contains($0.path) }
        var located: [AttachmentID: AttachableFile] = [:]
        var taken: Set<String> = []
        for (id, entry) in missing {
            let same = new.filter { $0.stamp.isSameFile(as: entry.stamp) }
            guard same.count == 1, taken.insert(same[0].path).inserted else { continue }
            located[id] = same[0]
        }
        let byHash = Dictionary(grouping: new.filter { !taken.contains($0.path) }) { $0.sha256 }
        let rest = Dictionary(grouping: missing.filter { located[$0.key] == nil }) { $0.value.sha256 }
        for (hash, entries) in rest where entries.count == 1 {
            guard let found = byHash[hash], found.count == 1, found[0].stamp.size > 0 else { continue }
            located[entries[0].key] = found[0]
        }
        return located
    }

    // MARK: Attachments with a file

    private mutating func plan(
        _ id: AttachmentID, _ entry: AttachmentEntry, _ attachment: MirrorAttachment, _ file: AttachableFile?
    ) {
        kept[file?.path ?? entry.path] = id
        guard let file else {
            if let reason = situation.unseen[id] {
                skipped.append(SkippedFile(path: entry.path, reason: reason))
            } else {
                missing.append(id)
            }
            return
        }
        if entry.absence != nil { actions.append(.regain(id)) }
        guard let hash = file.sha256 else { return skip(file) }
        if hash != entry.sha256 {
            if let reason = reasonNotToSend(file) {
                skipped.append(SkippedFile(path: file.path, reason: reason))
            } else {
                actions.append(.replace(id, path: file.path))
            }
            return
        }
        if file.path != entry.path {
            if !situation.isPullOnly { actions.append(.follow(id, from: entry.path, to: file.path)) }
            return
        }
        let linkers = situation.linkers[file.path] ?? []
        let isLinked = linkers.contains { $0.note == attachment.note }
        if entry.wasLinked, !isLinked, situation.linking.contains(attachment.note), !situation.isPullOnly,
            let next = linkers.lazy.compactMap(\.note).first
        {
            actions.append(.handOver(id, path: file.path, to: next))
        } else if attachment.note != entry.note || isLinked && !entry.wasLinked || entry.isReleased {
            actions.append(.note(id, attachment.note, isLinked: isLinked))
        }
    }

    /// The reason why the bytes of a file are not sent; nil if they are sent.
    private func reasonNotToSend(_ file: AttachableFile) -> SkippedFile.Reason? {
        if file.stamp.size == 0 { return .fileBecameEmpty }
        if situation.isPullOnly { return .pullOnly }
        if let largest = situation.largest, file.stamp.size > UInt64(largest) { return .overLimit }
        return NotePath.isUsable(asFile: file.path) ? nil : .longPath
    }

    private mutating func skip(_ file: AttachableFile) {
        switch file.content {
        case .settling:
            isSettling = true
            settlingSince = min(settlingSince ?? .max, file.stamp.changed)
        case .unusable(let reason): skipped.append(SkippedFile(path: file.path, reason: reason))
        case .bytes: break
        }
    }

    private mutating func planMissing() {
        guard !missing.isEmpty, !situation.isPullOnly else { return }
        let isMany = Absence.areMany(missing.count, of: situation.entries.count)
        if (isMany || situation.keepsAll) && !situation.isConfirmed {
            if isMany { questions.append(.attachments(missing)) }
            return
        }
        for id in missing {
            let isDue = situation.entries[id]?.absence?.isDue(at: situation.now.timeIntervalSince1970) == true
            if isDue || situation.isConfirmed {
                actions.append(.remove(id))
            } else {
                actions.append(.miss(id))
                waiting.append(id)
            }
        }
    }

    // MARK: Attachments that no note has any more

    private mutating func planGone(_ id: AttachmentID, _ entry: AttachmentEntry, _ file: AttachableFile?) {
        guard let file else {
            if situation.unseen[id] == nil { actions.append(.forget(id)) }
            return
        }
        guard let hash = file.sha256 else { return skip(file) }
        guard hash == entry.sha256 else {
            // The file was changed on this device, so it is not moved to the trash. The next round treats it as a new file.
            actions.append(.forget(id))
            return
        }
        if situation.unsent.contains(id), situation.refused.contains(id) {
            kept[file.path] = id
            skipped.append(SkippedFile(path: file.path, reason: .refused))
            return
        }
        let successor = free.filter { $0.value.sha256 == hash && ($0.value.path ?? "") != "" }.min {
            ($0.value.path == file.path ? 0 : 1, $0.key) < ($1.value.path == file.path ? 0 : 1, $1.key)
        }
        let others = (situation.linkers[file.path] ?? []).compactMap(\.note).filter { $0 != entry.note }
        if let (new, attachment) = successor, let path = attachment.path,
            path == file.path || isOpen(path) && takeName(path)
        {
            free[new] = nil
            kept[path] = new
            actions.append(.renew(id, as: new, from: file.path, to: path))
        } else if let next = others.first, !situation.isPullOnly {
            kept[file.path] = id
            let exists = situation.existing.contains(id)
            actions.append(exists ? .handOver(id, path: file.path, to: next) : .forget(id))
        } else if situation.unsent.contains(id) || entry.isReleased {
            actions.append(.forget(id))
        } else if let (new, attachment) = free.first(where: { $0.value.path == file.path }), !attachment.hasBytes {
            // The file is replaced later, when the bytes of the new attachment are on this device.
            kept[file.path] = id
            free[new] = nil
            actions.append(.fetch(new))
        } else if situation.isUnfinished {
            kept[file.path] = id
        } else {
            actions.append(.trash(id, path: file.path))
        }
    }

    // MARK: Names

    private mutating func withNames<R>(_ body: (inout FileNames) -> R) -> R {
        var names = self.names ?? FileNames()
        if self.names == nil { for path in paths { names.take(path) } }
        self.names = nil
        defer { self.names = names }
        return body(&names)
    }

    /// Reserves a path for a file, unless another file has the path.
    /// - Returns: whether the path was free.
    private mutating func takeName(_ path: String) -> Bool {
        if situation.foldsNames { return withNames { $0.take(path) } }
        names?.take(path)
        return paths.insert(path).inserted
    }

    private mutating func newName(_ stem: String, _ ending: String) -> String {
        let path = withNames { $0.path(folder: "", stem, ending: ending) }
        paths.insert(path)
        return path
    }

    private func isOpen(_ path: String) -> Bool { !situation.closed.contains { path.hasPrefix($0) } }

    // MARK: Attachments without a file

    private mutating func planFree() {
        // The paths of files that are moved to the trash can be used for other files.
        let ending = Set(actions.compactMap { if case .trash(_, let path) = $0 { path } else { nil } })
        for (id, attachment) in free.sorted(by: { $0.key < $1.key }) {
            guard !situation.arriving.contains(attachment.note) else {
                isIncomplete = true
                continue
            }
            if pair(id, attachment) || join(id, attachment) { continue }
            guard attachment.hasBytes else {
                actions.append(.fetch(id))
                continue
            }
            let path: String
            if let wish = attachment.path, isOpen(wish) {
                let parts = NotePath.parts(of: wish)
                path = ending.contains(wish) || takeName(wish) ? wish : newName(parts.stem, parts.ending)
            } else {
                path = newName(attachment.stem, attachment.ending)
            }
            guard NotePath.isUsable(asFile: path) else {
                let isNote = NotePath.isNote(NotePath.name(of: path))
                skipped.append(SkippedFile(path: path, reason: isNote ? .noteName : .longPath))
                continue
            }
            kept[path] = id
            actions.append(.make(id, path: path))
        }
    }

    /// Assigns a file to an attachment that has no entry. The file must not belong to another attachment, and must have the bytes
    /// of this attachment. A file at the attachment's path is preferred. A file at another path is used only if the attachment's
    /// note links to it.
    /// - Returns: false if there is no such file.
    private mutating func pair(_ id: AttachmentID, _ attachment: MirrorAttachment) -> Bool {
        if let path = attachment.path, let file = files[path] {
            if file.content == .settling {
                skip(file)
                return true
            }
            if file.sha256 == attachment.sha256 { return adopt(id, file) }
        }
        let linked = files.values.filter { file in
            file.sha256 == attachment.sha256
                && situation.linkers[file.path]?.contains { $0.note == attachment.note } == true
        }
        guard let file = linked.min(by: { $0.path < $1.path }) else { return false }
        return adopt(id, file)
    }

    private mutating func adopt(_ id: AttachmentID, _ file: AttachableFile) -> Bool {
        files[file.path] = nil
        kept[file.path] = id
        actions.append(.adopt(id, path: file.path))
        return true
    }

    /// Removes one of two attachments with the same path and bytes, which two devices have made from the same file. An attachment
    /// stays if the text of its note contains its ID. If this is true of both attachments, both stay. If it is true of neither, the
    /// attachment with the smaller ID stays, so that all devices make the same decision.
    /// - Returns: whether one of the attachments is removed.
    private mutating func join(_ id: AttachmentID, _ attachment: MirrorAttachment) -> Bool {
        guard !situation.isPullOnly, let path = attachment.path, let other = kept[path],
            let entry = situation.entries[other], entry.path == path, entry.sha256 == attachment.sha256,
            let standing = situation.attachments[other], standing.path == path,
            let linkers = situation.linkers[path], linkers.contains(where: { $0.note == attachment.note }),
            linkers.contains(where: { $0.note == standing.note }),
            !actions.contains(where: { $0.id == other }), !(attachment.isMarked && standing.isMarked)
        else { return false }
        let stands = standing.isMarked || !attachment.isMarked && other < id
        actions.append(stands ? .drop(id) : .yield(other, to: id))
        return true
    }

    // MARK: Files that are not attachments yet

    private mutating func planNew() {
        for file in files.values.sorted(by: { $0.path < $1.path }) {
            guard let linkers = situation.linkers[file.path], let first = linkers.first else { continue }
            guard file.sha256 != nil else {
                skip(file)
                continue
            }
            // An empty file is skipped, because a program is probably still writing it.
            guard file.stamp.size > 0 else { continue }
            if let reason = reasonNotToSend(file) {
                skipped.append(SkippedFile(path: file.path, reason: reason))
            } else {
                let note = linkers.lazy.compactMap(\.note).first ?? first.note
                actions.append(.create(path: file.path, note: note))
            }
        }
    }
}

extension AttachmentPlan.Action {
    /// The attachment of the action; nil if the attachment had no entry before the action.
    var id: AttachmentID? {
        switch self {
        case .create, .adopt, .make, .fetch, .drop: nil
        case .replace(let id, _), .follow(let id, _, _), .handOver(let id, _, _), .renew(let id, _, _, _),
            .yield(let id, _), .trash(let id, _), .miss(let id), .regain(let id), .remove(let id), .forget(let id),
            .note(let id, _, _):
            id
        }
    }

    /// The path of the action's file, for messages; nil if the action has no path.
    var path: String? {
        switch self {
        case .create(let path, _), .adopt(_, let path), .replace(_, let path), .follow(_, _, let path),
            .handOver(_, let path, _), .make(_, let path), .renew(_, _, _, let path), .trash(_, let path):
            path
        case .fetch, .drop, .yield, .miss, .regain, .remove, .forget, .note: nil
        }
    }
}
