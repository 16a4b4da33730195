import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore

/// One request on its way, with what the frame found out about it before its handler sees it.
struct Call: Sendable {
    let request: Request
    /// Says which request a line is about.
    private let requestLogger: Logger
    /// Who asks, where somebody has to.
    let signature: Signature?
    /// The parameters after the `?`: only those that the route knows, each at most once.
    let query: Query
    /// What stands in the place of `{uniqueID}` in the path.
    let parameter: String
    let channel: any Channel
    /// Who may say where it comes from.
    let proxies: TrustedProxies
    /// Set while the store has yet to hear of this minute's use of the device.
    let use: DeviceUse?
    /// What signs the request, if a cookie does.
    let cookie: SessionCookie?

    init(
        request: Request, logger: Logger, signature: Signature? = nil, query: Query, parameter: String,
        channel: any Channel, proxies: TrustedProxies, use: DeviceUse? = nil, cookie: SessionCookie? = nil
    ) {
        self.request = request
        requestLogger = logger
        self.signature = signature
        self.query = query
        self.parameter = parameter
        self.channel = channel
        self.proxies = proxies
        self.use = use
        self.cookie = cookie
    }

    /// Says which request every line is about, and who asks. Made when there is something to say: most calls say nothing.
    var logger: Logger { requestLogger.saying(signature?.session) }

    /// The ID in the path. What is no ID is answered like one that nothing has.
    func uniqueID() throws(Problem) -> UniqueID {
        guard let id = UniqueID(parameter) else { throw .notFound(parameter) }
        return id
    }

    /// The device in the path.
    func node() throws(Problem) -> NodeID {
        guard let node = NodeID(parameter) else { throw .notFound(parameter) }
        return node
    }

    /// Where it comes from.
    var address: ClientAddress { proxies.client(of: request, from: channel.remoteAddress) }
    /// What the client calls itself.
    var userAgent: String? { DeviceUse.userAgent(of: request.headers) }

    /// A header, if it was sent.
    subscript(header: HTTPField.Name) -> String? { request.headers[header] }
}

extension Problem {
    /// Nothing has this ID, or it is somebody else's: the answer is the same.
    static func notFound(_ id: some CustomStringConvertible) -> Problem {
        Problem(.notFound, "Nothing in this account has the ID \(String(id.description.prefix(64))).")
    }
}
