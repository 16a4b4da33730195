import Foundation
import HesperClient
import HesperModel

/// Syncs the attachments of notes with the files to which the notes link. Each round for notes is followed by a round for
/// attachments.
final class MirrorAttachments {
    /// The input of a round for attachments. The round for notes before it produces this input.
    struct Context {
        var scan: FolderScanner.Result
        var notes: [NoteID: MirrorEntry]
        /// The versions of all notes for which the round for notes was planned.
        var planned: [NoteID: String]
        /// The files that become notes, or that are joined with notes, in this round. The keys are the paths of the files. The
        /// property is set only if the plan is shown and not carried out.
        var newNotes: [String: (note: NoteID?, text: String)] = [:]
        var now: Date
        var isConfirmed = false
        /// See ``AttachmentPlan/Situation/keepsAll``.
        var keepsAll = false
        /// See ``AttachmentPlan/Situation/isUnfinished``.
        var isUnfinished = false
    }

    private let folder: Folder
    private let store: LocalStore
    private let notes: MirrorMap
    private let map: AttachmentMap
    private let isPullOnly: Bool
    private let isLooking: Bool
    private var scanner: AttachableScanner
    private var trash: Trash { Trash(folder: folder) }
    /// The links of notes, each with the hash of the text in which they were found.
    private var links: [NoteID: (textHash: String, links: [FileLink])] = [:]
    /// The attachments of notes, each with the version of the note for which they were read.
    private var members: [NoteID: (version: String, attachments: [AttachmentID])] = [:]
    /// For each attachment, the note that has it.
    private var holders: [AttachmentID: NoteID] = [:]
    /// The properties of attachments. They never change, so they are read once.
    private var known: [AttachmentID: HesperClient.Attachment] = [:]
    /// The attachments that the server refused.
    private var refusals: [AttachmentID: [RejectedChange]] = [:]
    /// The attachments whose download was requested.
    private var wanted: Set<AttachmentID> = []
    private var largest: Int64?
    private var hasRequestedLimit = false
    private static let limitName = "mirror.largest"

    init(
        _ folder: Folder, _ store: LocalStore, _ notes: MirrorMap, isPullOnly: Bool, isLooking: Bool, quietTime: Int64
    ) async throws {
        (self.folder, self.store, self.notes) = (folder, store, notes)
        (self.isPullOnly, self.isLooking) = (isPullOnly, isLooking)
        scanner = AttachableScanner(folder, quietTime: quietTime)
        map = try await AttachmentMap(store)
        largest = try await store.read { try $0.local(MirrorAttachments.limitName) }
            .flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }

    var entries: [AttachmentID: AttachmentEntry] { map.entries }

    // MARK: Planning

    func plan(_ context: Context) async throws -> AttachmentPlan {
        var situation = AttachmentPlan.Situation()
        situation.entries = map.entries
        situation.linkers = try await linkers(context)
        situation.linking = Set(context.notes.keys)
        try await readAttachments(&situation)
        situation.arriving = Set(situation.attachments.values.map(\.note)).filter { note in
            let version = members[note]?.version
            return version != context.planned[note] && version != context.notes[note]?.version
        }
        readFiles(context, &situation)
        (situation.now, situation.isPullOnly, situation.isConfirmed) = (context.now, isPullOnly, context.isConfirmed)
        (situation.keepsAll, situation.isUnfinished) = (context.keepsAll, context.isUnfinished)
        situation.closed = context.scan.closed
        situation.foldsNames = folder.foldsNames
        situation.largest = try await limit(situation)
        if !isLooking { try await map.confirm(scanner.confirmed) }
        return AttachmentPlan(situation)
    }

    /// For each file, the notes that link to it.
    private func linkers(_ context: Context) async throws -> [String: [Linker]] {
        let files = context.scan.attachable
        guard !files.isEmpty else { return [:] }
        try await readLinks(context.notes)
        let linked = LinkedFiles(files.keys)
        var linkers: [String: [Linker]] = [:]
        func add(_ links: [FileLink], _ linker: Linker) {
            for path in Set(links.compactMap { linked.path(of: $0, in: linker.path) }) {
                linkers[path, default: []].append(linker)
            }
        }
        for (id, entry) in context.notes {
            if let links = links[id]?.links, !links.isEmpty { add(links, Linker(path: entry.path, note: id)) }
        }
        for (path, new) in context.newNotes { add(FileLink.all(in: new.text), Linker(path: path, note: new.note)) }
        return linkers.mapValues { $0.sorted { $0.path < $1.path } }
    }

    /// Finds the links of notes that are new or were changed.
    private func readLinks(_ notes: [NoteID: MirrorEntry]) async throws {
        links = links.filter { notes[$0.key] != nil }
        let changed = notes.filter { links[$0.key]?.textHash != $0.value.textHash }.map(\.key)
        for start in stride(from: 0, to: changed.count, by: 256) {
            let ids = changed[start..<min(start + 256, changed.count)]
            for (id, text) in try await self.notes.texts(of: ids) {
                if let entry = notes[id] { links[id] = (entry.textHash, FileLink.all(in: text)) }
            }
        }
    }

    private func readAttachments(_ situation: inout AttachmentPlan.Situation) async throws {
        let (members, known, entries) = (members, known, map.entries)
        let (found, changed, attachments) = try await store.read { tx in
            let existing = try tx.versions(of: HesperClient.Attachment.self)
            var attachments = known.filter { existing[$0.key] != nil }
            for id in existing.keys where attachments[id] == nil { attachments[id] = try tx.get(id) }
            var changed: [NoteID: (version: String, attachments: [AttachmentID])] = [:]
            if !attachments.isEmpty {
                for (id, version) in try tx.versions(of: Note.self) {
                    changed[id] =
                        if let known = members[id], known.version == version { known } else {
                            (version, try tx.attachmentIDs(of: id))
                        }
                }
            }
            var found = AttachmentPlan.Situation()
            found.existing = Set(attachments.keys)
            for (id, note) in changed {
                for attachment in note.attachments {
                    guard let properties = attachments[attachment] else { continue }
                    if let other = found.attachments[attachment]?.note {
                        // Two notes may have the attachment until the server rejects it in one of them.
                        if entries[attachment]?.note == other || entries[attachment]?.note != id && other < id {
                            continue
                        }
                    }
                    found.attachments[attachment] = MirrorAttachment(properties, of: id)
                }
            }
            try MirrorAttachments.readDetails(tx, entries, &found)
            return (found, changed, attachments)
        }
        (self.members, self.known) = (changed, attachments)
        holders = found.attachments.mapValues(\.note)
        (situation.attachments, situation.existing) = (found.attachments, found.existing)
        (situation.unsent, situation.refused) = (found.unsent, found.refused)
        if !situation.unsent.isEmpty {
            for try await changes in store.shelf {
                refusals = Dictionary(grouping: changes) { AttachmentID($0.objectID) }
                break
            }
            situation.refused = Set(refusals.keys)
        }
    }

    /// Reads properties that the plan needs for only some of the attachments, such as ``MirrorAttachment/hasBytes``.
    private static func readDetails(
        _ tx: ReadTransaction, _ entries: [AttachmentID: AttachmentEntry], _ situation: inout AttachmentPlan.Situation
    ) throws {
        let paths = Dictionary(entries.map { ($1.path, $0) }) { first, _ in first }
        for (id, attachment) in situation.attachments where entries[id] == nil {
            situation.attachments[id]?.hasBytes = try tx.state(of: id).hasBytes
            guard let other = attachment.path.flatMap({ paths[$0] }) else { continue }
            for id in [id, other] {
                guard let note = try situation.attachments[id].flatMap({ try tx.get($0.note) }) else { continue }
                situation.attachments[id]?.isMarked = note.text.string.contains(id.description)
            }
        }
        for id in entries.keys where situation.attachments[id] == nil {
            if try !tx.state(of: id).isSent { situation.unsent.insert(id) }
        }
    }

    /// Reads the files to which notes link, and the files that belong or may belong to attachments.
    private func readFiles(_ context: Context, _ situation: inout AttachmentPlan.Situation) {
        let stamps = context.scan.attachable
        scanner.begin(map.entries, stamps)
        var paths = Set(situation.linkers.keys)
        var missing: [AttachmentEntry] = []
        for (id, entry) in map.entries {
            situation.paths.insert(entry.path)
            if stamps[entry.path] != nil {
                paths.insert(entry.path)
            } else if let reason = context.scan.blocked[entry.path]
                ?? context.scan.unseen.reason(entry.path, wasMounted: entry.stamp.isMounted)
            {
                situation.unseen[id] = reason
            } else {
                missing.append(entry)
            }
        }
        for (id, attachment) in situation.attachments where map.entries[id] == nil {
            if let path = attachment.path, stamps[path] != nil { paths.insert(path) }
        }
        if !missing.isEmpty {
            let sizes = Set(missing.map(\.stamp.size))
            for (path, stamp) in stamps
            where sizes.contains(stamp.size) || missing.contains(where: { stamp.isSameFile(as: $0.stamp) }) {
                paths.insert(path)
            }
        }
        for path in paths {
            if let stamp = stamps[path] { situation.files[path] = scanner.file(path, stamp) }
        }
        situation.paths.formUnion(stamps.keys)
        situation.paths.formUnion(context.scan.blocked.keys)
    }

    /// For files up to this size, in bytes, the server's maximum size is not requested, because nearly all servers accept them.
    private static let largeBytes: UInt64 = 64 << 10

    /// The maximum size of an attachment. It is requested from the server when the first large file is found, and saved.
    private func limit(_ situation: AttachmentPlan.Situation) async throws -> Int64? {
        guard !hasRequestedLimit, !isPullOnly, !isLooking, store.status.problem == nil else { return largest }
        let sent = Set(map.entries.values.map(\.sha256))
        let isNeeded = situation.files.values.contains { file in
            file.stamp.size > MirrorAttachments.largeBytes && file.sha256.map(sent.contains) == false
        }
        guard isNeeded, let limit = try await store.largestAttachment() else { return largest }
        hasRequestedLimit = true
        if limit != largest {
            try await store.write { try $0.setLocal(MirrorAttachments.limitName, Data("\(limit)".utf8)) }
        }
        largest = limit
        return limit
    }

    // MARK: Rounds

    /// Records that a note is being deleted because its file was deleted. The files of its attachments stay in the folder.
    func release(_ note: NoteID) async throws {
        for (id, entry) in entries where entry.note == note { try await map.update(id) { $0.isReleased = true } }
    }

    func round(_ context: Context, _ report: inout Mirror.Report) async throws {
        let plan = try await plan(context)
        report.skipped += plan.skipped
        report.questions += plan.questions
        report.waiting += plan.waiting.compactMap { entries[$0]?.path }
        if plan.isIncomplete { report.isIncomplete = true }
        if plan.isSettling {
            report.isSettling = true
            report.settlingSince = min(report.settlingSince ?? .max, plan.settlingSince ?? .max)
        }
        for action in plan.actions {
            do { try await perform(action, context, &report) } catch { try handle(error, action, &report) }
        }
    }

    /// Handles the error of an action. If other actions can still be carried out, reports that the action was skipped, or
    /// requests another round. Otherwise rethrows the error, which ends the round.
    private func handle(_ error: any Error, _ action: AttachmentPlan.Action, _ report: inout Mirror.Report) throws {
        func skip(_ reason: SkippedFile.Reason) {
            guard let path = action.path ?? action.id.flatMap({ entries[$0]?.path }) else { return }
            report.skipped.append(SkippedFile(path: path, reason: reason))
        }
        switch error {
        case let failure as Folder.Failure where failure.code != ENOSPC && failure.code != EDQUOT:
            // The file was removed meanwhile. The next round detects this.
            if failure.code == ENOENT { report.isSettling = true } else { skip(.cannotWrite) }
        case StoreError.invalidValue: skip(.tooManyFiles)
        case StoreError.notFound: report.isIncomplete = true
        case AttachmentFilesError.missing: report.isIncomplete = true
        default: throw error
        }
    }

    private func perform(
        _ action: AttachmentPlan.Action, _ context: Context, _ report: inout Mirror.Report
    ) async throws {
        switch action {
        case .create(let path, let note):
            guard let note else { return }
            if try await attach(path, to: note, &report) { report.attached += 1 }
        case .replace(let id, let path):
            guard let note = holders[id] else { return }
            if try await attach(path, to: note, replacing: id, &report) { report.attached += 1 }
        case .follow(let id, _, let path): try await follow(id, path, &report)
        case .adopt(let id, let path): try await adopt(id, path, &report)
        case .make(let id, let path): try await make(id, path, &report)
        case .fetch(let id):
            if wanted.insert(id).inserted { try await store.wantBytes(of: id) }
            report.isFetching = true
        case .handOver(let id, _, let note): try await handOver(id, to: note, &report)
        case .renew(let id, let new, let from, let to): try await renew(id, as: new, from, to, &report)
        case .drop(let id):
            guard let note = holders[id] else { return }
            try await map.change { tx, _ in try tx.update(note) { $0.attachments.remove(id) } }
            report.detached += 1
        case .yield(let id, let new): try await yield(id, to: new, &report)
        case .trash(let id, let path): try await trash(id, path, context.now, &report)
        case .miss(let id):
            let absence = Absence.counting(entries[id]?.absence, at: context.now.timeIntervalSince1970)
            try await map.update(id) { $0.absence = absence }
        case .regain(let id): try await map.update(id) { $0.absence = nil }
        case .remove(let id): try await remove(id, &report)
        case .forget(let id):
            try await map.forget(id)
            // The refusals no longer matter, because the file is gone or will become a different attachment.
            for refusal in refusals.removeValue(forKey: id) ?? [] { try await store.dismiss(refusal) }
            report.isIncomplete = true
        case .note(let id, let note, let isLinked):
            try await map.update(id) { entry in
                entry.wasLinked = isLinked || entry.wasLinked && entry.note == note
                (entry.note, entry.isReleased) = (note, false)
            }
        }
    }

    // MARK: From the folder to the store

    /// Makes an attachment from a file.
    /// - Parameter old: the attachment that is replaced; nil if there is none.
    /// - Returns: whether the attachment was made.
    private func attach(
        _ path: String, to note: NoteID, replacing old: AttachmentID? = nil, _ report: inout Mirror.Report
    ) async throws -> Bool {
        let reader = try folder.reader(path)
        let stamp = try reader.stamp()
        // The bytes are first stored under a random ID. The ID of the attachment is derived from their hash, so that every device,
        // and every attempt, gives the same ID to the same bytes at the same path.
        let spare = AttachmentID()
        let (data, after) = try await stage(reader, spare)
        guard after == stamp else {
            try store.removeBytes(of: spare)
            report.isSettling = true
            return false
        }
        let name = "\(path)\n\(data.sha256)"
        let derived = AttachmentID(UniqueID.derived(from: name, in: note.uniqueID))
        let isElsewhere = holders[derived].map { $0 != note } ?? false
        let hashed = Folder.now
        do {
            let isUsed = try await map.change { tx, changes in
                var id = derived
                let isKnown = try tx.get(id) != nil
                let isTaken = try isElsewhere || !tx.attach(id, to: note, file: spare, data, filename: path)
                if isTaken {
                    id = spare
                    _ = try tx.attach(id, to: note, file: spare, data, filename: path)
                }
                if let old, old != id {
                    try tx.update(note) { $0.attachments.remove(old) }
                    changes[old] = .some(nil)
                }
                changes[id] = AttachmentEntry(
                    path: path, note: note, sha256: data.sha256, stamp: stamp, hashed: hashed, wasLinked: true)
                return id == spare || !isKnown
            }
            if !isUsed { try store.removeBytes(of: spare) }
            return true
        } catch {
            try? store.removeBytes(of: spare)
            throw error
        }
    }

    /// Copies the bytes of a file to the store.
    private func stage(_ reader: FileReader, _ id: AttachmentID) async throws -> (AttachmentData, FileStamp) {
        let data = try await store.addBytes(of: id) { try reader.next() }
        return (data, try reader.stamp())
    }

    private func follow(_ id: AttachmentID, _ path: String, _ report: inout Mirror.Report) async throws {
        guard let holder = holders[id], let note = try await store.get(holder) else { return }
        // If the note's text contains the attachment's ID, the attachment is not replaced. A new attachment would have another ID,
        // so the text would not show it.
        if !note.text.string.contains(id.description), NotePath.isUsable(asFile: path) {
            guard try await attach(path, to: holder, replacing: id, &report) else { return }
        } else {
            guard let stamp = try folder.stamp(path) else { return }
            try await map.update(id) { entry in
                (entry.path, entry.stamp, entry.hashed, entry.absence) = (path, stamp, 0, nil)
            }
        }
        report.moved += 1
    }

    private func handOver(_ id: AttachmentID, to note: NoteID, _ report: inout Mirror.Report) async throws {
        guard var entry = entries[id] else { return }
        let holder = holders[id]
        (entry.note, entry.wasLinked, entry.isReleased) = (note, true, false)
        let changed = entry
        try await map.change { tx, changes in
            if let holder, try tx.get(holder) != nil { try tx.update(holder) { $0.attachments.remove(id) } }
            try tx.update(note) { $0.attachments.insert(id) }
            changes[id] = changed
        }
        report.attached += 1
    }

    private func remove(_ id: AttachmentID, _ report: inout Mirror.Report) async throws {
        guard let entry = entries[id], let holder = holders[id], try folder.stamp(entry.path) == nil else { return }
        try await map.change { tx, changes in
            try tx.update(holder) { $0.attachments.remove(id) }
            changes[id] = .some(nil)
        }
        report.detached += 1
    }

    /// Removes an attachment from its note, because its file now belongs to another attachment.
    private func yield(_ id: AttachmentID, to new: AttachmentID, _ report: inout Mirror.Report) async throws {
        guard var entry = entries[id], let former = holders[id], let holder = holders[new] else { return }
        entry.note = holder
        let changed = entry
        try await map.change { tx, changes in
            try tx.update(former) { $0.attachments.remove(id) }
            (changes[id], changes[new]) = (.some(nil), changed)
        }
        report.detached += 1
    }

    // MARK: From the store to the folder

    /// The entry for the file of an attachment; nil if no note has the attachment.
    private func entry(_ id: AttachmentID, _ path: String, _ sha256: String, _ stamp: FileStamp) -> AttachmentEntry? {
        guard let note = holders[id] else { return nil }
        return AttachmentEntry(
            path: path, note: note, sha256: sha256, stamp: stamp, hashed: Folder.now, wasLinked: false)
    }

    private func adopt(_ id: AttachmentID, _ path: String, _ report: inout Mirror.Report) async throws {
        let (data, stamp) = try folder.reader(path).data()
        guard data.sha256 == known[id]?.sha256, let entry = entry(id, path, data.sha256, stamp) else {
            report.isSettling = true
            return
        }
        try await map.change { _, changes in changes[id] = entry }
        report.adopted += 1
    }

    private func make(_ id: AttachmentID, _ path: String, _ report: inout Mirror.Report) async throws {
        guard let reader = try await store.bytes(of: id) else {
            report.isIncomplete = true
            return
        }
        var hasher = AttachmentHasher()
        let stamp = try folder.create(path) { write in
            while true {
                let piece = try reader.read(at: hasher.byteCount, count: 1 << 20)
                guard !piece.isEmpty else { break }
                try piece.withUnsafeBytes { bytes in
                    hasher.update(bytes)
                    try write(bytes)
                }
            }
        }
        guard let stamp, let entry = entry(id, path, hasher.data.sha256, stamp) else {
            report.isIncomplete = true
            return
        }
        try await map.change { _, changes in changes[id] = entry }
        report.made += 1
    }

    private func renew(
        _ id: AttachmentID, as new: AttachmentID, _ from: String, _ to: String, _ report: inout Mirror.Report
    ) async throws {
        guard let old = entries[id], try folder.reader(from).data().0.sha256 == old.sha256,
            try from == to || folder.move(from, to: to), let after = try folder.stamp(to),
            let entry = entry(new, to, old.sha256, after)
        else {
            report.isSettling = true
            return
        }
        try await map.change { _, changes in (changes[id], changes[new]) = (.some(nil), entry) }
        if from != to { report.moved += 1 }
    }

    private func trash(
        _ id: AttachmentID, _ path: String, _ now: Date, _ report: inout Mirror.Report
    ) async throws {
        guard let entry = entries[id] else { return }
        let place = try trash.add(path, at: now)
        if try folder.reader(place).data().0.sha256 != entry.sha256 {
            // An editor saved the file just before it was moved, so the file is moved back.
            _ = try folder.move(place, to: path)
            report.isSettling = true
            return
        }
        try await map.forget(id)
        report.trashed += 1
    }
}

extension MirrorAttachment {
    fileprivate init(_ attachment: HesperClient.Attachment, of note: NoteID) {
        let name = FileName.parts(
            ofAttachment: attachment.id.uniqueID, filename: attachment.filename.map(NotePath.name),
            mimeType: attachment.mimeType)
        self.init(
            note: note, path: attachment.filename.flatMap { NotePath.isUsable(asFile: $0) ? $0 : nil }, stem: name.stem,
            ending: name.ending, sha256: attachment.sha256, byteCount: Int64(attachment.byteCount ?? 0))
    }
}
