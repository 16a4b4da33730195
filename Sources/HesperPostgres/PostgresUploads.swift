import HesperModel
import HesperStore
import NIOCore

/// Uploads stored as rows, one for each part of half a megabyte, so any server can continue an upload. At most a few parts
/// are in memory, whatever the upload's length.
struct PostgresUploads: UploadStage {
    private let store: PostgresStore

    /// The number of bytes that are buffered before they are written.
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

    func remove(_ id: UniqueID) async throws {
        try await write { connection in
            connection.enqueue("DELETE FROM upload_parts WHERE upload = $1", [.id(id)])
            connection.enqueue("DELETE FROM staged_uploads WHERE upload = $1", [.id(id)])
        }
    }

    func all() async throws -> [UniqueID] {
        try await store.run { try $0.all("SELECT upload FROM staged_uploads") { try $0.id(0) } }
    }

    /// Takes over the upload from any request that is appending to it.
    private func takeOver(_ id: UniqueID) async throws -> (turn: Int64, byteCount: Int64)? {
        try await write { connection in
            try connection.first(
                "UPDATE staged_uploads SET turn = turn + 1 WHERE upload = $1 RETURNING turn, byte_count", [.id(id)]
            ) { ($0.integer(0), $0.integer(1)) }
        }
    }

    /// - Throws: ``UploadSuperseded`` if another request has taken over the upload.
    private func add(_ part: ByteBuffer, to id: UniqueID, at start: Int64, turn: Int64) async throws {
        try await during(turn, of: id, to: start + Int64(part.readableBytes)) { connection in
            connection.enqueue(
                "INSERT INTO upload_parts (upload, start, bytes) VALUES ($1, $2, $3)",
                [.id(id), .int8(start), .bytes(Array(part.readableBytesView))], expecting: 1)
        }
    }

    /// Removes what was written beyond `offset`.
    private func cut(_ id: UniqueID, at offset: Int64, turn: Int64) async throws {
        try await during(turn, of: id, to: offset) { connection in
            connection.enqueue(
                "DELETE FROM upload_parts WHERE upload = $1 AND start >= $2", [.id(id), .int8(offset)])
        }
    }

    /// Sets the length of an upload and runs `body`.
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

/// Reads the bytes of an upload in order, a few parts at a time. No connection is in use between reads.
private actor UploadParts {
    private let store: PostgresStore
    private let id: UniqueID
    /// The length of the complete upload.
    private let end: Int64
    private var offset: Int64 = 0
    private var parts = CircularBuffer<ByteBuffer>()

    /// The number of parts read at a time. Parts may be small if the client sends small pieces.
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
