import Foundation
import HesperArchive
import HesperBlobs
import HesperModel
import HesperMoveIn
import HesperSQLite
import HesperStore
import NIOCore

@testable import HesperImport
@testable import hesper

/// Runs the parser of HTML in the process of the tests.
private struct ParserInThisProcess: MarkupRunner {
    func run(_ task: MarkupTask, to output: FileHandle) throws -> String? {
        try task.run(to: output)
        return nil
    }
}

/// One account with a store of its own, for importing and exporting, and a device that edits its notes.
final class TestAccount: Sendable {
    let store: SQLiteStore
    let blobs: FolderBlobs
    let scope: ScopeID
    let folder = TemporaryFolder()
    private let queue: PushQueue
    private let device = NodeID(0xd)

    init() async throws {
        store = try SQLiteStore(folder: folder.url.appending(path: "data"))
        blobs = try FolderBlobs(path: folder.path + "/attachments")
        queue = PushQueue(store: store)
        let account = try await store.write {
            try $0.insertAccount(.random(), email: "ada@example.org", passwordHash: "-", creationDate: .now)
        }
        guard let account else { throw Failure("The account was not made.") }
        scope = account.scope
    }

    deinit { try? store.close() }

    private func target(_ largest: Int64) -> ImportTarget {
        ImportTarget(store: store, blobs: blobs, scope: scope, maximumAttachmentBytes: largest, now: { .now })
    }

    @discardableResult
    func importFolder(_ path: String, largest: Int64 = 1 << 30) async throws -> ImportReport {
        let source = try await MoveIn(path, SourceLimits(attachmentBytes: largest), ParserInThisProcess())
        let importer = Importer(into: target(largest))
        return try await importer.run(source.reader) { _, _ in }
    }

    /// Imports a zip of text files or an export.
    @discardableResult
    func importArchive(_ path: String, largest: Int64 = 1 << 30) async throws -> ImportReport {
        guard let contents = try await ExportContents(of: path) else {
            return try await importFolder(path, largest: largest)
        }
        let importer = ArchiveImporter(path, contents, into: target(largest))
        var done = 0
        let report = try await importer.run { count, _ in done += count }
        guard done == importer.count else { throw Failure("Progress was reported for \(done) of \(importer.count).") }
        return report
    }

    /// - Returns: the path of the zip.
    func export() async throws -> String {
        let path = folder.path + "/\(UniqueID.random()).zip"
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        let export = try await Export(of: scope, store: store, blobs: blobs, date: .now)
        _ = try await export.write { try file.write(contentsOf: Data($0.readableBytesView)) }
        return path
    }

    // MARK: Contents

    /// Removes the data of an attachment from the blob store only.
    func loseBytes(of id: UniqueID) async throws {
        guard let blob = try await store.read({ [scope] in try $0.blob(of: id, in: scope) }) else { return }
        try await blobs.remove(blob.name)
    }

    /// The data of an attachment. Nil if it is unknown.
    func bytes(of id: UniqueID) async throws -> [UInt8]? {
        guard let blob = try await store.read({ [scope] in try $0.blob(of: id, in: scope) }) else { return nil }
        var bytes: [UInt8] = []
        for try await chunk in try await blobs.read(blob.name, 0..<blob.data.byteCount) {
            bytes += chunk.readableBytesView
        }
        return bytes
    }

    func head() async throws -> ScopeHead? { try await store.read { [scope] in try $0.head(of: scope) } }

    private func entities() async throws -> [Entity] {
        try await store.read { [scope] snapshot in
            var ids: [UniqueID] = []
            try snapshot.digests(in: scope, prefix: "") { id, _, _ in ids.append(id) }
            return try ids.compactMap { id in
                guard case .entity(let entity, _)? = try snapshot.state(of: id, in: scope) else { return nil }
                return entity
            }
        }
    }

    /// All notes, sorted by text.
    func notes() async throws -> [Note] {
        try await entities().compactMap { if case .note(let note) = $0 { note } else { nil } }
            .sorted { $0.text < $1.text }
    }

    func tags() async throws -> [Tag] {
        try await entities().compactMap { if case .tag(let tag) = $0 { tag } else { nil } }.sorted { $0.name < $1.name }
    }

    /// The names of a note's live tags.
    func tagNames(of note: Note) async throws -> Set<String> {
        let tags = try await tags()
        return Set(note.tags.raw.compactMap { id in tags.first { $0.uniqueID == id }?.name })
    }

    func findings() async throws -> [String] {
        try await store.read { [scope] snapshot in
            var findings: [String] = []
            try snapshot.inconsistencies(in: scope) { findings.append($0) }
            return findings
        }
    }

    // MARK: Edits by a device

    @discardableResult
    func push(_ elements: [Push.Element], at date: Timestamp = .now) async throws -> [Receipt] {
        let scope = Scope(scope, queue: queue, installation: store.installation, now: { date })
        return try await scope.apply(Push(elements), by: device, since: nil, of: Feed(.all)).receipts
    }

    func clock(_ date: Timestamp = .now) throws -> Clock {
        guard let clock = Clock(milliseconds: UInt64(date.milliseconds), node: device) else {
            throw Failure("No clock shows the time.")
        }
        return clock
    }

    func edit(_ note: Note, text: String) async throws {
        let edits = [Edit(.text, .string(text), at: try clock())]
        try await push([
            .change(Change(uniqueID: note.uniqueID, section: .notes, edits: edits, textBase: note.textClock))
        ])
    }

    func remove(_ tag: Tag, from note: Note) async throws {
        let edits = [Edit(.tag(tag.uniqueID), .bool(false), at: try clock())]
        try await push([.change(Change(uniqueID: note.uniqueID, section: .notes, edits: edits))])
    }

    func remove(attachment: UniqueID, from note: Note) async throws {
        let edits = [Edit(.attachment(attachment), .bool(false), at: try clock())]
        try await push([.change(Change(uniqueID: note.uniqueID, section: .notes, edits: edits))])
    }

    func makeTag(_ id: UniqueID, _ name: String) async throws {
        let edits = [Edit(.name, .string(name), at: try clock())]
        try await push([.change(Change(uniqueID: id, section: .tags, edits: edits))])
    }

    /// Creates a note, with further attributes.
    @discardableResult
    func makeNote(_ text: String, _ more: (Attribute, Value)..., at date: Timestamp = .now) async throws -> UniqueID {
        let (id, clock) = (UniqueID.random(), try clock(date))
        let edits =
            [Edit(.creationDate, .date(date), at: nil), Edit(.text, .string(text), at: clock)]
            + more.map { Edit($0.0, $0.1, at: clock) }
        try await push([.change(Change(uniqueID: id, section: .notes, edits: edits))], at: date)
        return id
    }

    @discardableResult
    func makeAttachment(_ bytes: [UInt8], _ filename: String) async throws -> UniqueID {
        let id = UniqueID.random()
        let name = BlobName(scope: scope, attachment: id)
        let chunks = AsyncStream<ByteBuffer> {
            $0.yield(ByteBuffer(bytes: bytes))
            $0.finish()
        }
        let data = try await blobs.write(name, chunks) { _ in }
        try await store.write { try $0.insert(Blob(name: name, data: data, arrivalDate: .now)) }
        let edits = [
            Edit(.mimeType, .string("image/png"), at: nil), Edit(.filename, .string(filename), at: nil),
            Edit(.width, .integer(3), at: nil),
        ]
        try await push([.change(Change(uniqueID: id, section: .attachments, edits: edits))])
        return id
    }

    func delete(_ id: UniqueID, _ type: ObjectType) async throws {
        try await push([.deletion(Deletion(uniqueID: id, objectType: type))])
    }
}
