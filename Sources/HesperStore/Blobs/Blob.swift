import HesperModel

/// Bytes that have arrived for an attachment, whether or not that is there by now.
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

/// An upload that may be resumed, until it is finished and for a while after.
public struct Upload: Sendable, Equatable {
    public let uniqueID: UniqueID
    public let attachment: UniqueID
    /// Bytes in all; nil while the client has not said.
    public var length: Int64?
    /// What they must have as SHA-256, in hex; nil if the client did not say.
    public let sha256: String?
    /// Whether all has arrived and been kept.
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
