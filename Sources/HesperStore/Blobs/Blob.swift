import HesperModel

/// The stored bytes of an attachment. They arrive before the attachment object exists.
public struct Blob: Sendable, Equatable {
    public let name: BlobName
    public let data: AttachmentData
    public let arrivalDate: Timestamp

    public init(name: BlobName, data: AttachmentData, arrivalDate: Timestamp) {
        self.name = name
        self.data = data
        self.arrivalDate = arrivalDate
    }
}

/// A resumable upload. Its row remains for some time after it has finished.
public struct Upload: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let attachment: UniqueID
    /// The total number of bytes; nil until the client states it.
    public var length: Int64?
    /// The SHA-256 hash that the bytes must have, in hex; nil if the client did not state it.
    public let sha256: String?
    /// Whether all bytes have arrived and are in the blob store.
    public var isFinished: Bool
    public let creationDate: Timestamp

    public init(
        uniqueID: UniqueID, attachment: UniqueID, length: Int64?, sha256: String?, isFinished: Bool = false,
        creationDate: Timestamp
    ) {
        self.uniqueID = uniqueID
        self.attachment = attachment
        self.length = length
        self.sha256 = sha256
        self.isFinished = isFinished
        self.creationDate = creationDate
    }
}
