import Crypto
import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore
import NIOCore

@testable import HesperArchive

/// An account with its own store and blobs, for exports.
final class TestAccount: Sendable {
    let store: SQLiteStore
    let blobs: FolderBlobs
    let scope: ScopeID
    let folder: URL
    private let queue: PushQueue
    private let device = NodeID(0xd)
    static let now = Timestamp(clamping: 1_795_000_000_000)

    init() async throws {
        folder = URL(filePath: #filePath).appending(path: "../../../.build/archive-tests/\(UUID())").standardizedFileURL
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try SQLiteStore(folder: folder.appending(path: "data"))
        blobs = try FolderBlobs(path: folder.appending(path: "blobs").path)
        queue = PushQueue(store: store)
        let account = try await store.write {
            try $0.insertAccount(.random(), email: "ada@example.org", passwordHash: "-", creationDate: TestAccount.now)
        }
        guard let account else { throw ArchiveError("The account was not created.") }
        scope = account.scope
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Contents

    @discardableResult
    func push(_ elements: [Push.Element]) async throws -> Scope.PushResult {
        let scope = Scope(scope, queue: queue, installation: store.installation, now: { TestAccount.now })
        let applied = try await scope.apply(Push(elements), by: device, since: nil, of: Feed(.all))
        for receipt in applied.receipts where receipt.status == .rejected {
            throw ArchiveError("refused: \(receipt)")
        }
        return applied
    }

    /// A clock some seconds after the start of 2026.
    func clock(_ seconds: UInt64) throws -> Clock {
        guard let clock = Clock(milliseconds: (1_767_225_600 + seconds) * 1_000, node: device) else {
            throw ArchiveError("The clock is out of range.")
        }
        return clock
    }

    @discardableResult
    func note(_ text: String, at seconds: UInt64 = 0, _ more: (Attribute, Value)...) async throws -> UniqueID {
        let id = UniqueID.random()
        let clock = try clock(seconds)
        let edits =
            [Edit(.creationDate, .date(Timestamp(clamping: 0)), at: nil), Edit(.text, .string(text), at: clock)]
            + more.map { Edit($0.0, $0.1, at: clock) }
        try await push([.change(Change(uniqueID: id, section: .notes, edits: edits))])
        return id
    }

    @discardableResult
    func attachment(
        _ bytes: [UInt8], _ filename: String?, _ mimeType: String, _ id: UniqueID = .random()
    ) async throws -> UniqueID {
        let name = BlobName(scope: scope, attachment: id)
        let chunks = AsyncStream<ByteBuffer> {
            $0.yield(ByteBuffer(bytes: bytes))
            $0.finish()
        }
        let data = try await blobs.write(name, chunks) { _ in }
        let blob = Blob(name: name, data: data, arrivalDate: Timestamp(clamping: 1_767_225_600_000))
        try await store.write { try $0.insert(blob) }
        let edits =
            [Edit(.mimeType, .string(mimeType), at: nil)]
            + (filename.map { [Edit(.filename, .string($0), at: nil)] } ?? [])
        try await push([.change(Change(uniqueID: id, section: .attachments, edits: edits))])
        return id
    }

    func blob(of id: UniqueID) async throws -> Blob? {
        try await store.read { [scope] in try $0.blob(of: id, in: scope) }
    }

    // MARK: Exporting

    func export(to path: String, date: Timestamp = TestAccount.now) async throws -> ExportReport {
        let export = try await Export(of: scope, store: store, blobs: blobs, date: date)
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        return try await export.write { try file.write(contentsOf: Data($0.readableBytesView)) }
    }

    /// Exports the account and reads all files of the archive.
    func exported() async throws -> (report: ExportReport, files: [String: [UInt8]], entries: [ZipReader.Entry]) {
        let path = folder.appending(path: "export.zip").path
        let report = try await export(to: path)
        let zip = try ZipReader(path)
        var files: [String: [UInt8]] = [:]
        var entries: [ZipReader.Entry] = []
        while let entry = try zip.next() {
            entries.append(entry)
            files[entry.path] = try zip.readAll(limit: .max)
        }
        return (report, files, entries)
    }
}

extension JSON {
    /// A required member of an object.
    func member(_ name: String) throws -> JSON {
        guard let value = self[name] else { throw ArchiveError("there is no \(name)") }
        return value
    }

    var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }
}
