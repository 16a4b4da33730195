import HesperModel
import HesperStore

/// A device that is being signed in.
struct NewDevice: Sendable {
    private let credentials: Credentials
    private let userAgent: String?
    private let address: String?
    private let quota: Int64?
    private let cookie: SessionCookie.Name?
    private let node = NodeID.random()
    private let token = BearerToken.random()

    /// Generates the ID and the token of the device. ``insert(into:account:)`` stores the device.
    /// - Parameter quota: the default quota of an account, in bytes. It applies if the operator has set no quota for the account.
    ///   Nil for no limit.
    /// - Throws: `cross-site` if the credentials request a cookie, but the request is from a page of another origin.
    init(_ credentials: Credentials, request: APIRequest, cookies: SessionCookies, quota: Int64?) throws(Problem) {
        self.credentials = credentials
        self.quota = quota
        userAgent = request.userAgent
        address = request.address.text
        cookie = credentials.wantsCookie ? try cookies.name(for: request.http) : nil
    }

    func insert(into transaction: any Transaction, account: Account) throws -> SignInResult {
        let date = Timestamp.now
        let device = Device(
            node: node, account: account.uniqueID, name: credentials.deviceName, appVersion: credentials.appVersion,
            userAgent: userAgent, creationDate: date, lastUseDate: date, lastUseAddress: address)
        try transaction.insert(device, token: token.hash)
        return SignInResult(
            account: account, usage: try transaction.usage(of: account.scope), quota: quota, device: device,
            token: token, cookie: cookie)
    }
}
