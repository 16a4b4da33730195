import HesperModel

/// The metadata of an attachment's stored bytes. The bytes arrive before the attachment object is created.
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

/// The record of a resumable upload. It remains in the database for some time after the upload has finished.
public struct Upload: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let attachment: UniqueID
    /// The total number of bytes of the upload; nil until the client has stated it.
    public var length: Int64?
    /// The SHA-256 hash, in hex, that the bytes must have; nil if the client did not state it.
    public let sha256: String?
    /// Whether all bytes have arrived and have been stored in the blob store.
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
