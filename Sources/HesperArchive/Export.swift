import HesperModel
import HesperStore
import NIOCore
import NIOPosix

/// Exports an account as a zip archive: notes as Markdown files, attachments as the uploaded files, and `hesper.json`, which
/// contains all objects in the format of sync (operating.md, Export).
///
///     let export = try await Export(of: account.scope, store: store, blobs: blobs, date: .now)
///     let report = try await export.write { try await writer.write($0) }
///
/// The archive contains the state of the account at a single point in time. Memory use is about 200 bytes per file of the
/// archive, regardless of the sizes of the files.
public struct Export: Sendable {
    private let scope: ScopeID
    private let store: any Store
    private let blobs: any BlobStore
    private let date: Timestamp
    private let snapshot: ExportSnapshot
    private let pool: NIOThreadPool

    /// Copies the account's objects to temporary files, so that later changes do not affect the export.
    /// - Throws: ``Problem`` `unauthenticated` if the account does not exist. ``StoreError`` if the store cannot be read or
    ///   temporary files cannot be written.
    public init(
        of scope: ScopeID, store: any Store, blobs: any BlobStore, date: Timestamp, pool: NIOThreadPool = .singleton
    ) async throws {
        self.scope = scope
        self.store = store
        self.blobs = blobs
        self.date = date
        self.pool = pool
        snapshot = try await ExportSnapshot.take(of: scope, in: store)
    }

    /// The number of notes and attachments. The archive contains one file for each of them, except for missing attachments.
    public var fileCount: Int { snapshot.notes.count + snapshot.attachments.count }

    /// The file name of an archive that was made on `date`, such as `hesper-2026-11-21.zip`.
    public static func fileName(_ date: Timestamp) -> String { "hesper-\(date.description.prefix(10)).zip" }

    /// Produces the archive in pieces. Each piece is sent before the next piece is produced.
    /// - Parameters:
    ///   - progress: called with the number of notes and attachments that were processed since the previous call.
    ///   - send: sends a piece. If it throws an error, the export ends with this error.
    /// - Returns: a report. The archive also contains a list of missing attachments.
    public func write(
        progress: (_ files: Int) -> Void = { _ in }, to send: (ByteBuffer) async throws -> Void
    ) async throws -> ExportReport {
        let work = try ExportWork(snapshot, date: date)
        while let (files, piece) = try await pool.runIfActive({ try work.addNotes() }) {
            try await send(piece)
            progress(files)
        }
        while let attachment = try await pool.runIfActive({ try work.nextAttachment() }) {
            try await add(attachment, to: work, send)
            progress(1)
        }
        try await pool.runIfActive { try work.beginDocument() }
        while let piece = try await pool.runIfActive({ try work.addDocument() }) { try await send(piece) }
        try await send(try await pool.runIfActive { try work.finish() })
        return work.report
    }

    private func add(
        _ attachment: ExportedAttachment, to work: ExportWork, _ send: (ByteBuffer) async throws -> Void
    ) async throws {
        let scope = scope
        guard let blob = try await store.read({ try $0.blob(of: attachment.uniqueID, in: scope) }),
            let bytes = try await bytes(of: blob)
        else { return work.miss(attachment) }
        try work.begin(attachment, blob)
        var hasher = AttachmentHasher()
        for try await chunk in bytes {
            guard hasher.byteCount + Int64(chunk.readableBytes) <= blob.data.byteCount else { break }
            let before = hasher
            let (piece, after) = try await pool.runIfActive {
                var hasher = before
                hasher.update(chunk)
                return (try work.add(chunk), hasher)
            }
            hasher = after
            try await send(piece)
        }
        // If the stored bytes end early, zeros are added, because the archive already states the full size of the file. The report
        // lists the file as damaged.
        var gap = blob.data.byteCount - hasher.byteCount
        while gap > 0 {
            let zeros = ByteBuffer(repeating: 0, count: Int(min(gap, Export.chunk)))
            gap -= Int64(zeros.readableBytes)
            try await send(try work.add(zeros))
        }
        try await send(try work.end(attachment, isWhole: hasher.data == blob.data))
    }

    private func bytes(of blob: Blob) async throws -> BlobBytes? {
        do {
            return try await blobs.read(blob.name, 0..<blob.data.byteCount)
        } catch is BlobMissing {
            return nil
        }
    }

    static let chunk: Int64 = 256 << 10
}
