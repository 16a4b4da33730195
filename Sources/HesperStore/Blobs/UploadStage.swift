import HesperModel
import NIOCore

/// Where the bytes of an upload that may break off wait for the rest (protocol.md, Attachments): on the disk of this server,
/// or where all servers of a database find them; neither a lost connection nor a restart loses what has arrived.
public protocol UploadStage: Sendable {
    /// Makes room for an upload; durable when it returns.
    func create(_ id: UniqueID) async throws

    /// How many bytes an upload has; nil if there is none of this ID. Whoever appends to it at this moment is ended first.
    func byteCount(of id: UniqueID) async throws -> Int64?

    /// Appends bytes until they end. What arrived is durable when this returns, and also when it throws what `bytes` throw.
    /// - Parameters:
    ///   - offset: how many bytes there must be; whoever else appends at this moment is ended.
    ///   - limit: how many there may be at the end.
    ///   - check: told what was appended; if it throws, that is taken back.
    /// - Returns: how many there are.
    /// - Throws: ``UploadMissing``, ``UploadOffsetMismatch``, ``UploadTooLong``, ``UploadSuperseded``; ``StoreError``.
    func append<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to id: UniqueID, at offset: Int64, limit: Int64,
        checking check: (@Sendable (AttachmentData) throws -> Void)?
    ) async throws -> Int64 where Bytes.Element == ByteBuffer

    /// Has a store keep all bytes of an upload under a name; they stay here too, until they are removed.
    /// - Parameter check: as in ``BlobStore/write(_:_:checking:)``.
    /// - Throws: ``UploadMissing``; whatever the other store throws.
    func give(
        _ id: UniqueID, to blobs: any BlobStore, as name: BlobName,
        checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData

    /// Removes an upload. That there is none of this ID is as good.
    func remove(_ id: UniqueID) async throws

    /// The IDs of all that there are.
    func all() async throws -> [UniqueID]
}

/// Nothing has arrived of such an upload, or it is gone.
public struct UploadMissing: Error, Sendable { public init() {} }

/// Bytes were to be appended where an upload does not end.
public struct UploadOffsetMismatch: Error, Sendable, Equatable {
    /// Where it ends.
    public let offset: Int64

    public init(offset: Int64) { self.offset = offset }
}

/// More bytes came than there may be. Those that fit were kept.
public struct UploadTooLong: Error, Sendable { public init() {} }

/// Another request has taken over the upload.
public struct UploadSuperseded: Error, Sendable { public init() {} }
