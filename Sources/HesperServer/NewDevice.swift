import HesperModel
import HesperStore

/// A device that is about to be signed in.
struct NewDevice: Sendable {
    private let credentials: Credentials
    private let userAgent: String?
    private let node = NodeID.random()
    private let token = BearerToken.random()

    init(_ credentials: Credentials, userAgent: String?) {
        self.credentials = credentials
        self.userAgent = userAgent
    }

    func insert(into transaction: any Transaction, account: Account) throws -> SignedIn {
        let date = Timestamp.now
        let device = Device(
            node: node, account: account.uniqueID, name: credentials.deviceName, appVersion: credentials.appVersion,
            userAgent: userAgent, creationDate: date, lastUseDate: date)
        try transaction.insert(device, token: token.hash)
        return SignedIn(account: account, usage: try transaction.usage(of: account.scope), device: device, token: token)
    }
}
