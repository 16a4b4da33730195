/// The amount of data in an installation.
public struct Totals: Sendable, Equatable {
    public let accounts: Int
    public let devices: Int
    /// The total size of all attachments, in bytes.
    public let blobBytes: Int64

    public init(accounts: Int, devices: Int, blobBytes: Int64) {
        self.accounts = accounts
        self.devices = devices
        self.blobBytes = blobBytes
    }
}
