/// How much an installation holds.
public struct Totals: Sendable, Equatable {
    public let accounts: Int
    public let devices: Int
    /// The bytes of all attachments.
    public let blobBytes: Int64

    public init(accounts: Int, devices: Int, blobBytes: Int64) {
        self.accounts = accounts
        self.devices = devices
        self.blobBytes = blobBytes
    }
}
