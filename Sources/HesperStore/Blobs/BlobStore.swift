import HesperModel
import NIOCore

/// Storage for the bytes of attachments (storage.md, Attachment data). A blob is written as a whole and never changed. The
/// ``Store`` records which blobs are in use.
///
/// All data is streamed, so that memory use does not depend on the size of a blob.
public protocol BlobStore: Sendable {
    /// Stores all of `bytes` under an unused name. The blob is durable when this returns. If this throws, there is no blob with
    /// this name.
    /// - Parameter check: called with the size and the hash of the bytes before the blob becomes visible under its name. If
    ///   `check` throws an error, the write fails with this error.
    /// - Returns: the number of bytes and their SHA-256 hash.
    func write<Bytes: AsyncSequence & Sendable>(
        _ name: BlobName, _ bytes: Bytes, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData where Bytes.Element == ByteBuffer

    /// Stores the contents of a local file. The effect is the same as that of ``write(_:_:checking:)``.
    /// - Parameter path: the path of the file. The file must be durable. The caller must remove the file later, but must not write
    ///   to it any more, because the blob may be a hard link to it.
    func adopt(
        _ path: String, as name: BlobName, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData

    /// Reads a range of a blob. When this returns, the blob is open, but its bytes may not have been read yet.
    /// - Parameter range: byte offsets, which must not be beyond the end of the blob.
    /// - Throws: ``BlobMissing`` if there is no blob with this name.
    func read(_ name: BlobName, _ range: Range<Int64>) async throws -> BlobBytes

    /// The size of a blob in bytes; nil if there is no blob with this name.
    func byteCount(of name: BlobName) async throws -> Int64?

    /// Removes a blob. Does nothing if there is no blob with this name.
    func remove(_ name: BlobName) async throws

    /// Calls `body` with every stored blob, in no particular order. This includes blobs for which no ``Store`` has a row. May also
    /// call `body` with files that are not blobs. The ``BlobEntry/name`` of these files is nil.
    func entries(_ body: (BlobEntry) async throws -> Void) async throws

    /// Removes the partial data of interrupted writes that began before a date.
    /// - Returns: the number of writes whose data was removed.
    func removeUnfinished(before date: Timestamp) async throws -> Int

    /// The contents of the marker (``BlobMarker``); nil if there is no marker. The marker is not a blob and is not included in
    /// ``entries(_:)``.
    func marker() async throws -> [UInt8]?

    /// Replaces the marker atomically. The new marker is durable when this returns. If this throws, either the old or the new
    /// marker exists.
    func setMarker(_ bytes: [UInt8]) async throws
}

extension BlobStore {
    /// Whether the blob store contains this blob, and the blob has the size that the database has recorded.
    public func has(_ blob: Blob) async throws -> Bool {
        try await byteCount(of: blob.name) == blob.data.byteCount
    }
}

/// A file in the folder of blobs, or an object in the bucket of blobs.
public struct BlobEntry: Sendable, Equatable {
    /// The name of the blob; nil if the path is not the path of a blob.
    public let name: BlobName?
    public let path: String
    public let byteCount: Int64
    public let date: Timestamp

    public init(path: String, byteCount: Int64, date: Timestamp) {
        name = BlobName(path: path)
        self.path = path
        self.byteCount = byteCount
        self.date = date
    }
}

/// The error for a read of a blob that does not exist.
public struct BlobMissing: Error, Sendable, Equatable {
    public let name: BlobName

    public init(_ name: BlobName) { self.name = name }
}

/// The bytes of a range that is being read. They can be iterated only once.
public struct BlobBytes: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let read: @Sendable () async throws -> ByteBuffer?

    /// - Parameter read: returns the next bytes; nil when there are no more bytes.
    public init(_ read: @escaping @Sendable () async throws -> ByteBuffer?) { self.read = read }

    public func makeAsyncIterator() -> BlobBytes { self }
    public mutating func next() async throws -> ByteBuffer? { try await read() }
}

extension AttachmentHasher {
    public mutating func update(_ buffer: ByteBuffer) { buffer.withUnsafeReadableBytes { update($0) } }
}
