import HesperModel
import NIOCore

/// Stores the bytes of resumable uploads until the uploads are complete (protocol.md, Attachments). The bytes are on the disk of
/// this server, or in the database, where all servers can access them. Received bytes are not lost if the connection is lost or
/// the server restarts.
public protocol UploadStage: Sendable {
    /// Creates an empty upload. It is durable when this returns.
    func create(_ id: UniqueID) async throws

    /// The number of bytes that an upload has received; nil if the upload does not exist. If a request is appending to the
    /// upload, that request is cancelled first.
    func byteCount(of id: UniqueID) async throws -> Int64?

    /// Appends bytes to an upload. If another request is appending to the upload, that request is cancelled first. All bytes that
    /// arrived are durable when this returns, and also when this throws because reading `bytes` failed.
    /// - Parameters:
    ///   - offset: the length that the upload must have before the bytes are appended.
    ///   - limit: the maximum length of the upload.
    ///   - check: called with the size and the hash of the appended bytes. If it throws, the appended bytes are removed again.
    /// - Returns: the new length of the upload.
    /// - Throws: ``UploadMissing``, ``UploadOffsetMismatch``, ``UploadTooLong``, ``UploadSuperseded`` or ``StoreError``.
    func append<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to id: UniqueID, at offset: Int64, limit: Int64,
        checking check: (@Sendable (AttachmentData) throws -> Void)?
    ) async throws -> Int64 where Bytes.Element == ByteBuffer

    /// Copies the bytes of an upload to a blob store. The upload itself remains until it is removed.
    /// - Parameter check: the same as for ``BlobStore/write(_:_:checking:)``.
    /// - Throws: ``UploadMissing``, or an error of the blob store.
    func copy(
        _ id: UniqueID, to blobs: any BlobStore, as name: BlobName,
        checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData

    /// Writes the bytes of an upload to a new local file. The file may share its storage with the upload, so it must not be
    /// changed.
    /// - Throws: ``UploadMissing``, or an error of the file system.
    func write(_ id: UniqueID, to path: String) async throws

    /// Removes an upload. Does nothing if the upload does not exist.
    func remove(_ id: UniqueID) async throws

    /// The IDs of all uploads.
    func all() async throws -> [UniqueID]
}

/// The error for an operation on an upload that does not exist.
public struct UploadMissing: Error, Sendable { public init() {} }

/// The error for an append whose offset is not the current length of the upload.
public struct UploadOffsetMismatch: Error, Sendable, Equatable {
    /// The current length of the upload.
    public let offset: Int64

    public init(offset: Int64) { self.offset = offset }
}

/// The error for an append that would exceed the maximum length of the upload. The bytes up to the maximum length have been
/// stored.
public struct UploadTooLong: Error, Sendable { public init() {} }

/// The error for a request whose upload has been taken over by another request.
public struct UploadSuperseded: Error, Sendable { public init() {} }
