import HesperModel
import NIOCore

/// Where the bytes of attachments are kept (storage.md, Attachment data). A blob is written once, whole, and never changed;
/// which blobs count is in the ``Store``.
///
/// Everything is streamed: memory does not grow with a blob.
public protocol BlobStore: Sendable {
    /// Keeps all of `bytes` under a name that nothing has yet. When it returns, the blob is durable; if it throws, nothing
    /// has that name.
    /// - Parameter check: told what arrived, before anything has the name; what it throws ends the write.
    /// - Returns: how many bytes there were, and their SHA-256.
    func write<Bytes: AsyncSequence & Sendable>(
        _ name: BlobName, _ bytes: Bytes, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData where Bytes.Element == ByteBuffer

    /// Keeps what is in a local file, as ``write(_:_:checking:)`` keeps bytes.
    /// - Parameter path: of the file, which is durable. It stays, and is its owner's to remove; it may have become the blob
    ///   itself, so that nobody may write to it any more.
    func adopt(
        _ path: String, as name: BlobName, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData

    /// Some of a blob's bytes, in order. It is there, and its first bytes can be read, when this returns.
    /// - Parameter range: counted from 0; not beyond the blob's end.
    /// - Throws: ``BlobMissing``.
    func read(_ name: BlobName, _ range: Range<Int64>) async throws -> BlobBytes

    /// How many bytes a blob has; nil if there is none of this name.
    func byteCount(of name: BlobName) async throws -> Int64?

    /// Removes a blob. That there is none of this name is as good.
    func remove(_ name: BlobName) async throws

    /// Gives every blob there is, in no particular order, those too that no ``Store`` knows.
    func entries(_ body: (BlobEntry) async throws -> Void) async throws

    /// Removes what writes that broke off have left, if it is older than a date.
    /// - Returns: how many there were.
    func removeUnfinished(before date: Timestamp) async throws -> Int

    /// The contents of the marker (``BlobMarker``), which is no blob and not among ``entries(_:)``; nil if there is none.
    func marker() async throws -> [UInt8]?

    /// Replaces the marker whole. It is durable when this returns; if it throws, the old one or the new one is in place.
    func setMarker(_ bytes: [UInt8]) async throws
}

extension BlobStore {
    /// Whether a blob that the store knows of is there, as long as it is to be.
    public func has(_ blob: Blob) async throws -> Bool {
        try await byteCount(of: blob.name) == blob.data.byteCount
    }
}

/// A file or an object as it is found where blobs are kept.
public struct BlobEntry: Sendable, Equatable {
    /// Nil for what no ``BlobStore`` has ever written.
    public let name: BlobName?
    /// Its path, whatever it is.
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

/// A blob that ought to be there is not.
public struct BlobMissing: Error, Sendable, Equatable {
    public let name: BlobName

    public init(_ name: BlobName) { self.name = name }
}

/// Bytes on their way, once, to one reader.
public struct BlobBytes: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let read: @Sendable () async throws -> ByteBuffer?

    /// - Parameter read: gives the next bytes; nil after the last.
    public init(_ read: @escaping @Sendable () async throws -> ByteBuffer?) { self.read = read }

    public func makeAsyncIterator() -> BlobBytes { self }
    public mutating func next() async throws -> ByteBuffer? { try await read() }
}

extension AttachmentHasher {
    public mutating func update(_ buffer: ByteBuffer) { buffer.withUnsafeReadableBytes { update($0) } }
}
