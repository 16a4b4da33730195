import HesperStore

/// Limits of attachments and uploads.
public struct AttachmentLimits: Sendable {
    /// The maximum size of an attachment, in bytes.
    public var largest: Int64 = 100 << 20
    /// The maximum number of unfinished uploads per account.
    public var openUploads = 100
    /// The age at which an unfinished upload is removed, in seconds.
    public let uploadSeconds = Int(Sweep.abandonedAge / 1_000)

    public init() {}
}
