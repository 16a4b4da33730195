import HesperStore

/// How much room attachments have.
public struct AttachmentLimits: Sendable {
    /// Bytes of one.
    public var largest: Int64 = 100 << 20
    /// Uploads of an account that are under way.
    public var openUploads = 100
    /// Seconds after which an upload that is not finished is given up.
    public let uploadSeconds = Int(Sweep.abandonedAge / 1_000)

    public init() {}
}
