import Foundation
import HesperModel
import HesperStore
import NIOCore

/// Stores the bytes of unfinished uploads in the database, so that any server can continue an upload. Each row contains a part
/// of about half a megabyte. Only a few parts are in memory at the same time.
struct PostgresUploads: UploadStage {
    private let store: PostgresStore

    /// The minimum size in bytes of all parts except the last one. When at least this number of bytes is buffered, the buffered
    /// bytes are written as a part.
    private static let partBytes = 512 << 10

    init(_ store: PostgresStore) { self.store = store }

    func create(_ id: UniqueID) async throws {
        try await write { _ = try $0.run("INSERT INTO staged_uploads (upload) VALUES ($1)", [.id(id)]) }
    }

    func byteCount(of id: UniqueID) async throws -> Int64? { try await takeOver(id)?.byteCount }

    func append<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to id: UniqueID, at offset: Int64, limit: Int64,
        checking check: (@Sendable (AttachmentData) throws -> Void)?
    ) async throws -> Int64 where Bytes.Element == ByteBuffer {
        guard let (turn, byteCount) = try await takeOver(id) else { throw UploadMissing() }
        guard byteCount == offset else { throw UploadOffsetMismatch(offset: byteCount) }
        return try await gather(
            bytes, at: offset, limit: limit, partBytes: PostgresUploads.partBytes, checking: check
        ) { part, start in
            try await add(part, to: id, at: start, turn: turn)
        } cutting: {
            try await cut(id, at: offset, turn: turn)
        }
    }

    func copy(
        _ id: UniqueID, to blobs: any BlobStore, as name: BlobName,
        checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData {
        guard let byteCount = try await takeOver(id)?.byteCount else { throw UploadMissing() }
        let parts = UploadParts(store: store, id: id, end: byteCount)
        return try await blobs.write(name, BlobBytes { try await parts.next() }, checking: check)
    }

    func write(_ id: UniqueID, to path: String) async throws {
        guard let byteCount = try await takeOver(id)?.byteCount else { throw UploadMissing() }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw CocoaError(.fileWriteUnknown) }
        defer { try? file.close() }
        let parts = UploadParts(store: store, id: id, end: byteCount)
        while let part = try await parts.next() {
            try Task.checkCancellation()
            try file.write(contentsOf: Array(part.readableBytesView))
        }
    }

    func remove(_ id: UniqueID) async throws {
        try await write { connection in
            connection.enqueue("DELETE FROM upload_parts WHERE upload = $1", [.id(id)])
            connection.enqueue("DELETE FROM staged_uploads WHERE upload = $1", [.id(id)])
        }
    }

    func all() async throws -> [UniqueID] {
        try await store.run { try $0.all("SELECT upload FROM staged_uploads") { try $0.id(0) } }
    }

    /// Takes over an upload, so that only this request can write to the upload. If an earlier request still writes to the upload,
    /// its next write throws ``UploadSuperseded``.
    /// - Returns: the number of this request (`turn`) and the number of stored bytes; nil if the upload does not exist.
    private func takeOver(_ id: UniqueID) async throws -> (turn: Int64, byteCount: Int64)? {
        try await write { connection in
            try connection.first(
                "UPDATE staged_uploads SET turn = turn + 1 WHERE upload = $1 RETURNING turn, byte_count", [.id(id)]
            ) { ($0.integer(0), $0.integer(1)) }
        }
    }

    /// Writes a part of an upload.
    /// - Throws: ``UploadSuperseded`` if another request has taken over the upload.
    private func add(_ part: ByteBuffer, to id: UniqueID, at start: Int64, turn: Int64) async throws {
        try await during(turn, of: id, to: start + Int64(part.readableBytes)) { connection in
            connection.enqueue(
                "INSERT INTO upload_parts (upload, start, bytes) VALUES ($1, $2, $3)",
                [.id(id), .int8(start), .bytes(Array(part.readableBytesView))], expecting: 1)
        }
    }

    /// Removes the bytes of an upload from `offset` on.
    private func cut(_ id: UniqueID, at offset: Int64, turn: Int64) async throws {
        try await during(turn, of: id, to: offset) { connection in
            connection.enqueue(
                "DELETE FROM upload_parts WHERE upload = $1 AND start >= $2", [.id(id), .int8(offset)])
        }
    }

    /// Sets the number of stored bytes of an upload and runs `body`, in one transaction.
    /// - Parameter turn: the number that ``takeOver(_:)`` returned to this request.
    /// - Throws: ``UploadSuperseded`` if another request has taken over the upload.
    private func during(
        _ turn: Int64, of id: UniqueID, to byteCount: Int64, _ body: @escaping @Sendable (Connection) throws -> Void
    ) async throws {
        try await write { connection in
            let updated = try connection.run(
                "UPDATE staged_uploads SET byte_count = $3 WHERE upload = $1 AND turn = $2",
                [.id(id), .int8(turn), .int8(byteCount)])
            guard updated == 1 else { throw UploadSuperseded() }
            try body(connection)
        }
    }

    private func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await store.run(writes: true) { connection in
            connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED")
            let result = try body(connection)
            try connection.run("COMMIT")
            return result
        }
    }
}

/// Reads the bytes of an upload in order. Each query reads a few parts. No connection is in use between the queries.
private actor UploadParts {
    private let store: PostgresStore
    private let id: UniqueID
    /// The length of the complete upload in bytes.
    private let end: Int64
    private var offset: Int64 = 0
    private var parts = CircularBuffer<ByteBuffer>()

    /// The maximum number of parts that one query reads, so that only a few parts are in memory.
    private static let batch = 4

    init(store: PostgresStore, id: UniqueID, end: Int64) {
        self.store = store
        self.id = id
        self.end = end
    }

    func next() async throws -> ByteBuffer? {
        guard offset < end else { return nil }
        if parts.isEmpty { parts = try await read(from: offset) }
        guard let part = parts.popFirst() else { throw UploadMissing() }
        offset += Int64(part.readableBytes)
        return part
    }

    private func read(from offset: Int64) async throws -> CircularBuffer<ByteBuffer> {
        let found = try await store.run { [id, end] connection in
            try connection.all(
                "SELECT bytes FROM upload_parts WHERE upload = $1 AND start >= $2 AND start < $3 ORDER BY start LIMIT $4",
                [.id(id), .int8(offset), .int8(end), .int(UploadParts.batch)]
            ) { ByteBuffer(bytes: $0.bytes(0)) }
        }
        return CircularBuffer(found)
    }
}
