import HesperModel
import NIOCore

/// Stores the bytes of resumable uploads until they are complete (protocol.md, Attachments), on the disk of this server or in the
/// database, where all servers can access them. Received bytes survive lost connections and restarts.
public protocol UploadStage: Sendable {
    /// Creates an empty upload, which is durable when this returns.
    func create(_ id: UniqueID) async throws

    /// The length of an upload; nil if it does not exist. A request that is appending to it is cancelled first.
    func byteCount(of id: UniqueID) async throws -> Int64?

    /// Appends bytes to an upload, cancelling any other request that is appending to it. The bytes that arrived are durable when
    /// this returns, and also when it rethrows an error of `bytes`.
    /// - Parameters:
    ///   - offset: the length that the upload must have.
    ///   - limit: the maximum length of the upload.
    ///   - check: called with the size and the hash of the appended bytes. If it throws, they are removed again.
    /// - Returns: the new length of the upload.
    /// - Throws: ``UploadMissing``, ``UploadOffsetMismatch``, ``UploadTooLong``, ``UploadSuperseded``; ``StoreError``.
    func append<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to id: UniqueID, at offset: Int64, limit: Int64,
        checking check: (@Sendable (AttachmentData) throws -> Void)?
    ) async throws -> Int64 where Bytes.Element == ByteBuffer

    /// Copies an upload to a blob store. The upload remains until it is removed.
    /// - Parameter check: as in ``BlobStore/write(_:_:checking:)``.
    /// - Throws: ``UploadMissing``, and errors of the blob store.
    func copy(
        _ id: UniqueID, to blobs: any BlobStore, as name: BlobName,
        checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData

    /// Removes an upload. Does nothing if it does not exist.
    func remove(_ id: UniqueID) async throws

    /// The IDs of all uploads.
    func all() async throws -> [UniqueID]
}

/// The upload does not exist.
public struct UploadMissing: Error, Sendable { public init() {} }

/// The offset of an append is not the length of the upload.
public struct UploadOffsetMismatch: Error, Sendable, Equatable {
    /// The length of the upload.
    public let offset: Int64

    public init(offset: Int64) { self.offset = offset }
}

/// The upload would exceed its maximum length. The bytes up to that length were stored.
public struct UploadTooLong: Error, Sendable { public init() {} }

/// Another request has taken over the upload.
public struct UploadSuperseded: Error, Sendable { public init() {} }
