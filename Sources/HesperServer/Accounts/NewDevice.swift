import HesperModel
import HesperStore

/// A device that is about to be signed in.
struct NewDevice: Sendable {
    private let credentials: Credentials
    private let userAgent: String?
    private let address: String?
    private let quota: Int64?
    private let cookie: SessionCookie.Name?
    private let node = NodeID.random()
    private let token = BearerToken.random()

    /// - Parameter quota: how many bytes an account may store that has no quota of its own.
    /// - Throws: `cross-site` if it asks for a cookie that it cannot be given.
    init(_ credentials: Credentials, call: Call, cookies: SessionCookies, quota: Int64?) throws(Problem) {
        self.credentials = credentials
        self.quota = quota
        userAgent = call.userAgent
        address = call.address.text
        cookie = credentials.wantsCookie ? try cookies.name(for: call.request) : nil
    }

    func insert(into transaction: any Transaction, account: Account) throws -> SignedIn {
        let date = Timestamp.now
        let device = Device(
            node: node, account: account.uniqueID, name: credentials.deviceName, appVersion: credentials.appVersion,
            userAgent: userAgent, creationDate: date, lastUseDate: date, lastUseAddress: address)
        try transaction.insert(device, token: token.hash)
        return SignedIn(
            account: account, usage: try transaction.usage(of: account.scope), quota: quota, device: device,
            token: token, cookie: cookie)
    }
}
