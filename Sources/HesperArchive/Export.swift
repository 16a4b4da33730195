import HesperModel
import HesperStore
import NIOCore
import NIOPosix

/// Everything in an account as one zip: notes as Markdown, attachments as the files they were, and `hesper.json`, which has
/// all of it as sync sends it (operating.md, Export).
///
///     let export = try await Export(of: account.scope, store: store, blobs: blobs, date: .now)
///     let report = try await export.write { try await writer.write($0) }
///
/// What is in it is what there was at one moment. Memory does not grow with it, but for some 200 bytes a file.
public struct Export: Sendable {
    private let scope: ScopeID
    private let store: any Store
    private let blobs: any BlobStore
    private let date: Timestamp
    private let snapshot: ExportSnapshot
    private let pool: NIOThreadPool

    /// Copies the account's objects aside. From then on nothing that is written to the store matters.
    /// - Throws: ``Problem`` `unauthenticated` if the account is gone; ``StoreError``, also if there is no room for temporary
    ///   files.
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

    /// Files of notes and attachments that there will be, unless one is missing.
    public var fileCount: Int { snapshot.notes.count + snapshot.attachments.count }

    /// What an archive of a day is called: `hesper-2026-11-21.zip`.
    public static func fileName(_ date: Timestamp) -> String { "hesper-\(date.description.prefix(10)).zip" }

    /// Makes the archive and gives it away piece by piece, each before the next is made.
    /// - Parameters:
    ///   - progress: told of each file of a note or an attachment that is done.
    ///   - send: takes a piece; what it throws ends the export.
    /// - Returns: what became of it. What is missing is said in the archive as well.
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
        // The archive has been told how many bytes come: those that are not there are made up, and it is said.
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
