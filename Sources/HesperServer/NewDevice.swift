import HesperModel
import HesperStore

/// A device that is about to be signed in.
struct NewDevice: Sendable {
    private let credentials: Credentials
    private let userAgent: String?
    private let quota: Int64?
    private let node = NodeID.random()
    private let token = BearerToken.random()

    /// - Parameter quota: of the account's attachments, in bytes.
    init(_ credentials: Credentials, userAgent: String?, quota: Int64?) {
        self.credentials = credentials
        self.quota = quota
        self.userAgent = userAgent
    }

    func insert(into transaction: any Transaction, account: Account) throws -> SignedIn {
        let date = Timestamp.now
        let device = Device(
            node: node, account: account.uniqueID, name: credentials.deviceName, appVersion: credentials.appVersion,
            userAgent: userAgent, creationDate: date, lastUseDate: date)
        try transaction.insert(device, token: token.hash)
        return SignedIn(
            account: account, usage: try transaction.usage(of: account.scope), quota: quota, device: device,
            token: token)
    }
}
