import Foundation
import HesperClient
import HesperModel

/// Syncs a folder with the notes and attachments of a local store, in rounds.
///
/// Only one task at a time may use a mirror.
final class Mirror {
    let folder: Folder
    let store: LocalStore
    /// The marker that the folder must have; nil before it has one.
    var marker: Marker?
    private let isPullOnly: Bool
    /// Whether the mirror only shows its status: it writes neither files nor entries, because another process may sync the folder.
    private let isLooking: Bool
    /// Returns the time of the wall clock.
    private let now: @Sendable () -> Date
    private var scanner: FolderScanner
    private let map: MirrorMap
    let attachments: MirrorAttachments
    private var formerFiles: [FormerFile] = []
    /// The time for which a program may have a file open while it saves the file, in nanoseconds.
    var savingTime: Int64 = 5_000_000_000
    private var trash: Trash { Trash(folder: folder) }

    init(
        _ folder: Folder, _ store: LocalStore, isPullOnly: Bool = false, isLooking: Bool = false,
        quietTime: Int64 = FolderScanner.defaultQuietTime, now: @escaping @Sendable () -> Date = { Date() }
    ) async throws {
        self.folder = folder
        self.store = store
        self.isPullOnly = isPullOnly
        self.isLooking = isLooking
        self.now = now
        scanner = FolderScanner(folder, quietTime: quietTime)
        map = try await MirrorMap(store)
        attachments = try await MirrorAttachments(
            folder, store, map, isPullOnly: isPullOnly, isLooking: isLooking, quietTime: quietTime)
    }

    var entries: [NoteID: MirrorEntry] { map.entries }

    // MARK: Planning

    /// Makes the plan for a round that begins now. Saves the new stamps of files that were hashed again and have not changed.
    func plan(isConfirmed: Bool = false) async throws -> (notes: MirrorPlan, attachments: AttachmentPlan) {
        let (scan, planned, plan) = try await planNotes(isConfirmed: isConfirmed)
        var context = context(scan, planned, plan, isConfirmed: isConfirmed)
        for action in plan.actions {
            switch action {
            case .create, .adopt, .reconcile:
                guard let path = action.path, let (bytes, _) = try? folder.read(path) else { continue }
                context.newNotes[path] = (action.id, String(decoding: bytes, as: UTF8.self))
            default: continue
            }
        }
        return (plan, try await attachments.plan(context))
    }

    private func context(
        _ scan: FolderScanner.Result, _ planned: [NoteID: String], _ plan: MirrorPlan, isConfirmed: Bool
    ) -> MirrorAttachments.Context {
        var context = MirrorAttachments.Context(scan: scan, notes: map.entries, planned: planned, now: now())
        context.isConfirmed = isConfirmed
        context.keepsAll = plan.questions.contains { if case .deletions = $0 { true } else { false } }
        return context
    }

    /// - Returns: the scan of the folder, the versions of all notes, and the plan.
    private func planNotes(
        isConfirmed: Bool
    ) async throws -> (FolderScanner.Result, [NoteID: String], MirrorPlan) {
        let scan = try scanner.scan(map.entries)
        if let inner = scan.innerMirror {
            throw MirrorError(
                "\(folder.path)/\(inner) is synced separately. A synced folder must not contain another synced folder.")
        }
        if !isLooking { try await map.confirm(scan.confirmed) }
        var situation = MirrorPlan.Situation()
        situation.folderName = folder.name
        situation.files = scan.files
        situation.others = scan.others
        situation.foldsNames = folder.foldsNames
        situation.closed = scan.closed
        situation.entries = map.entries
        situation.isReceiving = store.status.phase != .synced
        (situation.notes, situation.continuations) = try await notes()
        situation.now = now()
        situation.isPullOnly = isPullOnly
        situation.isConfirmed = isConfirmed
        return (scan, situation.notes.mapValues(\.version), MirrorPlan(situation))
    }

    /// Reads all notes. The details of a note are read only if the note has no file or was changed. `continuations` contains the
    /// deleted notes whose text was kept in another note, each with the ID of that other note.
    private func notes() async throws -> ([NoteID: MirrorNote], continuations: [NoteID: NoteID]) {
        let entries = map.entries
        return try await store.read { tx in
            var notes: [NoteID: MirrorNote] = [:]
            for (id, version) in try tx.versions(of: Note.self) {
                var note = MirrorNote(version: version)
                if entries[id]?.version != version { note.detail = try tx.get(id).map(MirrorNote.Detail.init) }
                notes[id] = note
            }
            var continuations: [NoteID: NoteID] = [:]
            for id in entries.keys where notes[id] == nil { continuations[id] = try tx.continuation(of: id) }
            return (notes, continuations)
        }
    }

    // MARK: Rounds

    /// Cleans up after a killed process. Must be called once, before the first round.
    func begin() async throws {
        try await map.resume(settingPath: !isPullOnly) { new in
            guard let (bytes, _) = try? folder.read(new.path), let text = try? FileText(bytes) else { return false }
            return new.isOrigin(of: text.text)
        }
        try trash.takeTemporaryFiles { map.knows($0) }
        trash.removeOld(at: now())
        try await map.removeOldTexts(at: now().timeIntervalSince1970)
        try await store.removeUnusedBytes()
    }

    /// Brings the folder and the store to the same state, except for files that were just changed, skipped files, and changes
    /// that the user must confirm first.
    func round(isConfirmed: Bool = false) async throws -> Report {
        guard let found = try Marker.read(folder) else {
            throw MirrorError(
                "\(folder.path)/\(Marker.folderName) is missing. Nothing was changed. Is the folder mounted?")
        }
        if let marker, found != marker {
            throw MirrorError(
                "\(folder.path) is now synced by \(found.host), so this process ends. "
                    + "If \(found.host) no longer syncs it, give --take-over.")
        }
        let (scan, planned, plan) = try await planNotes(isConfirmed: isConfirmed)
        var report = Report()
        report.skipped = plan.skipped
        report.questions = plan.questions
        report.isSettling = plan.isSettling
        report.settlingSince = plan.settlingSince
        report.waiting = plan.waiting.compactMap { map.entries[$0]?.path }
        var batch: [Pending] = []
        var new: [MirrorPlan.Action] = []
        for action in plan.actions {
            do {
                if case .make = action {
                    new.append(action)
                    if new.count == Mirror.batchSize { try await make(&new, &report) }
                } else if let pending = try await prepare(action, &report) {
                    batch.append(pending)
                    if batch.count == Mirror.batchSize { try await commit(&batch, &report) }
                } else {
                    try await commit(&batch, &report)
                    try await perform(action, &report)
                }
            } catch {
                try handle(error, action, &report)
            }
        }
        try await make(&new, &report)
        try await commit(&batch, &report)
        var context = context(scan, planned, plan, isConfirmed: isConfirmed)
        context.isUnfinished = report.isIncomplete || report.isSettling
        try await attachments.round(context, &report)
        try await removeFormerFiles(&report)
        return report
    }

    /// The maximum number of entries that are saved in one transaction. Each transaction waits for the disk.
    private static let batchSize = 64

    /// A new or changed entry that is to be saved.
    private struct Pending {
        let action: MirrorPlan.Action
        let change: MirrorMap.Change
        /// The counter that is increased in the report when the change was made. Nil if the action is not reported.
        let count: WritableKeyPath<Report, Int>?
    }

    private func commit(_ batch: inout [Pending], _ report: inout Report) async throws {
        guard !batch.isEmpty else { return }
        defer { batch = [] }
        do {
            count(try await map.commit(batch.map(\.change)), batch, &report)
        } catch {
            // A change failed, so the batch was rolled back. Each change is repeated in a transaction of its own.
            for pending in batch {
                do {
                    count(try await map.commit([pending.change]), [pending], &report)
                } catch {
                    try handle(error, pending.action, &report)
                }
            }
        }
    }

    private func count(_ results: [Bool], _ batch: [Pending], _ report: inout Report) {
        for (pending, isDone) in zip(batch, results) {
            if !isDone { report.isIncomplete = true }
            if isDone, let count = pending.count { report[keyPath: count] += 1 }
        }
    }

    /// Handles the error of an action. If other actions can still be carried out, reports that the action was skipped, or
    /// requests another round. Otherwise rethrows the error, which ends the round.
    private func handle(_ error: any Error, _ action: MirrorPlan.Action, _ report: inout Report) throws {
        switch error {
        case let failure as Folder.Failure where failure.code != ENOSPC && failure.code != EDQUOT:
            // The file was removed meanwhile. The next round detects this.
            if failure.code == ENOENT { report.isSettling = true } else { skip(action, .cannotWrite, &report) }
        case StoreError.invalidValue: skip(action, .mergedTooLarge, &report)
        case StoreError.notFound: report.isIncomplete = true
        // The history of the note cannot be read now. The next round tries again.
        case is AccountError: break
        default: throw error
        }
    }

    private func skip(_ action: MirrorPlan.Action, _ reason: SkippedFile.Reason, _ report: inout Report) {
        guard let path = action.path ?? action.id.flatMap({ map.entries[$0]?.path }) else { return }
        report.skipped.append(SkippedFile(path: path, reason: reason))
    }

    private func perform(_ action: MirrorPlan.Action, _ report: inout Report) async throws {
        switch action {
        case .follow(let id, _, let to):
            try await map.follow(id, to: to)
            report.moved += 1
        case .edit(let id, let path): try await edit(id, path, &report)
        case .create, .adopt, .make, .note: break
        case .reconcile(let id, let path): try await reconcile(id, path, &report)
        case .write(let id, let path): try await write(id, path, &report)
        case .relocate(let id, let from, let to): try await relocate(id, from, to, &report)
        case .trash(let id, let path): try await trash(id, path, &report)
        case .detach(let id, let path, let into):
            try await map.detach(id, path: path, into: into)
            report.isIncomplete = true
        case .miss(let id): try await map.miss(id, at: now().timeIntervalSince1970)
        case .regain(let id): try await map.regain(id)
        case .delete(let id): try await delete(id, &report)
        case .forget(let id): try await map.forget(id)
        }
    }

    // MARK: From the folder to the store

    private func edit(_ id: NoteID, _ path: String, _ report: inout Report) async throws {
        guard let content = try read(path, &report) else { return }
        report.edited += 1
        if try await map.integrate(content, into: id, at: now().timeIntervalSince1970) {
            try await write(id, path, &report)
        }
    }

    /// Prepares an action that changes only an entry and its note.
    /// - Returns: nil if the action is of another kind, or if there is nothing to change.
    private func prepare(_ action: MirrorPlan.Action, _ report: inout Report) async throws -> Pending? {
        switch action {
        case .create(let path):
            guard let content = try read(path, &report) else { return nil }
            return Pending(
                action: action, change: map.creation(content, at: path, now: now()), count: \.created)
        case .adopt(let id, let path):
            guard let content = try read(path, &report) else { return nil }
            let change = map.adoption(id, content, at: path, settingPath: !isPullOnly)
            return Pending(action: action, change: change, count: \.adopted)
        case .note(let id): return Pending(action: action, change: map.noting(id), count: nil)
        default: return nil
        }
    }

    /// Handles a file and a note that belong together but have different texts. If the file has a former text of the note, the
    /// file is updated from the note. Otherwise, the file becomes a new note, and the existing note is not changed.
    private func reconcile(_ id: NoteID, _ path: String, _ report: inout Report) async throws {
        guard !isPullOnly else {
            report.skipped.append(SkippedFile(path: path, reason: .pullOnly))
            return
        }
        guard let content = try read(path, &report) else { return }
        let former = try await store.formerTexts(of: id)
        guard former.contains(where: { FileText.hash(of: $0) == FileText.hash(of: content.text) }) else {
            var batch = [try await prepare(.create(path: path), &report)].compactMap(\.self)
            try await commit(&batch, &report)
            report.isIncomplete = true
            return
        }
        // The file has a former text of the note, so it contains nothing that must be merged.
        try await map.adopt(id, older: content, at: path, settingPath: true)
        report.adopted += 1
        try await write(id, path, &report)
    }

    /// Reads the file of an action; nil if it is empty or cannot be a note.
    private func read(_ path: String, _ report: inout Report) throws -> FileContent? {
        let (bytes, stamp) = try folder.read(path)
        guard !bytes.isEmpty, let text = try? FileText(bytes) else {
            report.isSettling = true
            return nil
        }
        return FileContent(text, hash: FileText.hash(bytes), stamp: stamp, hashed: Folder.now)
    }

    private func delete(_ id: NoteID, _ report: inout Report) async throws {
        guard let entry = map.entries[id], try folder.stamp(entry.path) == nil else { return }
        try await attachments.release(id)
        if try await map.delete(id) { report.deleted += 1 } else { report.isIncomplete = true }
    }

    // MARK: From the store to the folder

    private func write(_ id: NoteID, _ path: String, _ report: inout Report) async throws {
        guard let entry = map.entries[id], let note = try await map.current(id) else {
            report.isIncomplete = true
            return
        }
        let bytes = FileText.bytes(of: note.text, hasCRLF: note.hasCRLF)
        let hash = FileText.hash(bytes)
        guard try folder.stamp(path) != nil else {
            // The file was deleted on this device, but the note was changed on another one, so the file is created again.
            guard let stamp = try folder.create(path, bytes) else {
                report.isIncomplete = true
                return
            }
            try await map.wrote(note, hash: hash, stamp, at: now().timeIntervalSince1970)
            report.made += 1
            return
        }
        guard hash != entry.fileHash else {
            _ = try await map.commit([map.noting(id)])
            return
        }
        switch try folder.replace(path, bytes, expected: entry.stamp) {
        case .unexpected: report.isSettling = true
        case .done(let stamp, let name, let bytes):
            let base = try await map.wrote(note, hash: hash, stamp, at: now().timeIntervalSince1970)
            var former = FormerFile(
                name: name, id: id, path: path, hash: entry.fileHash, text: base, replaced: Folder.now)
            // An editor may have saved the file just before it was replaced.
            try await look(at: &former, bytes, &report)
            formerFiles.append(former)
            report.written += 1
        }
    }

    /// A file that the mirror replaced. If a program still has the file open, the program may write to it.
    private struct FormerFile {
        let name: String
        let id: NoteID
        let path: String
        /// The hash of the file when the mirror last read it.
        var hash: String
        /// The text of the file when the mirror last read it. The note already contains this text.
        var text: String
        let replaced: Int64
    }

    /// Removes files that were replaced more than ``savingTime`` ago, except those that a program has emptied, because it is probably
    /// still writing them. If a program wrote text to a file after it was replaced, the text is merged into the note. Other bytes, and
    /// texts of notes that were deleted, go to the trash.
    /// - Parameter isAtEnd: whether the mirror is ending, so that all replaced files are removed now.
    func removeFormerFiles(_ report: inout Report, isAtEnd: Bool = false) async throws {
        var rest: [FormerFile] = []
        for var former in formerFiles {
            var isBeingWritten = false
            if let (bytes, _) = try? folder.read("\(Folder.temporary)/\(former.name)") {
                isBeingWritten = bytes.isEmpty && !former.text.isEmpty
                try await look(at: &former, bytes, &report)
            }
            if isAtEnd || (!isBeingWritten && Folder.now - former.replaced > savingTime) {
                folder.removeTemporary(former.name)
            } else {
                rest.append(former)
            }
        }
        formerFiles = rest
    }

    private func look(at former: inout FormerFile, _ bytes: Data, _ report: inout Report) async throws {
        let hash = FileText.hash(bytes)
        guard hash != former.hash, !bytes.isEmpty else { return }
        if let text = try? FileText(bytes),
            try await map.integrate(late: text.text, base: former.text, into: former.id)
        {
            (former.hash, former.text) = (hash, text.text)
        } else {
            try trash.add(bytes, named: former.path, at: now())
            former.hash = hash
        }
        report.isIncomplete = true
    }

    /// Creates the files of notes. The list of these files is saved first: if the process is killed before the entries are saved,
    /// the next process uses the list to assign the files to their notes.
    private func make(_ actions: inout [MirrorPlan.Action], _ report: inout Report) async throws {
        defer { actions = [] }
        var files: [(action: MirrorPlan.Action, new: NewFile, note: CurrentNote)] = []
        for case .make(let id, let path, let isUntitled) in actions {
            guard let note = try await map.current(id) else { continue }
            let new = NewFile(
                id: id, path: path, text: note.text, hasCRLF: note.hasCRLF, isUntitled: isUntitled)
            files.append((.make(id, path: path, isUntitled: isUntitled), new, note))
        }
        guard !files.isEmpty else { return }
        try await map.announce(files.map(\.new))
        var batch: [Pending] = []
        for (action, new, note) in files {
            do {
                guard let stamp = try folder.create(new.path, new.bytes) else {
                    report.isIncomplete = true
                    continue
                }
                let content = FileContent(note, hash: FileText.hash(new.bytes), stamp: stamp, hashed: Folder.now)
                let change = map.making(
                    note, content, at: new.path, isUntitled: new.isUntitled,
                    settingPath: !isPullOnly && !new.isUntitled)
                batch.append(Pending(action: action, change: change, count: \.made))
            } catch {
                try handle(error, action, &report)
            }
        }
        try await commit(&batch, &report)
        try await map.announce([])
    }

    private func relocate(_ id: NoteID, _ from: String, _ to: String, _ report: inout Report) async throws {
        // If this round wrote the file, the entry already has the new stamp.
        guard let entry = map.entries[id], let before = try folder.stamp(from), before == entry.stamp,
            try folder.move(from, to: to)
        else {
            report.isSettling = true
            return
        }
        var stamp = before
        if let after = try folder.stamp(to), after.isSameFile(as: before) { stamp.changed = after.changed }
        try await map.relocate(id, to: to, stamp, settingPath: !isPullOnly)
        report.moved += 1
    }

    private func trash(_ id: NoteID, _ path: String, _ report: inout Report) async throws {
        guard let entry = map.entries[id] else { return }
        let place = try trash.add(path, at: now())
        if FileText.hash(try folder.read(place).0) != entry.fileHash {
            // An editor saved the file just before it was moved, so the file is moved back.
            _ = try folder.move(place, to: path)
            report.isSettling = true
            return
        }
        try await map.forget(id)
        report.trashed += 1
    }
}

extension MirrorPlan.Action {
    /// The path of the action's file, for messages; nil if the action has no path.
    fileprivate var path: String? {
        switch self {
        case .follow(_, _, let path), .edit(_, let path), .create(let path), .adopt(_, let path),
            .reconcile(_, let path),
            .write(_, let path), .make(_, let path, _), .relocate(_, let path, _), .trash(_, let path),
            .detach(_, let path, _):
            path
        case .miss, .regain, .delete, .forget, .note: nil
        }
    }

    fileprivate var id: NoteID? {
        switch self {
        case .create: nil
        case .follow(let id, _, _), .edit(let id, _), .adopt(let id, _), .reconcile(let id, _), .write(let id, _),
            .make(let id, _, _), .relocate(let id, _, _), .trash(let id, _), .detach(let id, _, _), .miss(let id),
            .regain(let id), .delete(let id), .forget(let id), .note(let id):
            id
        }
    }
}
