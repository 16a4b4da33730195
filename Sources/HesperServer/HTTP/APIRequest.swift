import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore

/// A request with its context: the route's parameters, the authenticated caller, and the connection.
struct APIRequest: Sendable {
    let http: Request
    /// Logs with the request ID.
    private let requestLogger: Logger
    /// The authenticated caller; nil on open routes.
    let caller: AuthenticatedCaller?
    /// The query parameters: only those that the route declares, each at most once.
    let query: Query
    /// The value of the path parameter, such as that of `{uniqueID}`; empty if the path has none.
    let parameter: String
    let channel: any Channel
    /// The proxies whose forwarding headers are trusted.
    let proxies: TrustedProxies
    /// Set if this use of the device may have to be recorded.
    let use: DeviceUse?
    /// The session cookie that authenticates the request, if one does.
    let cookie: SessionCookie?

    init(
        http: Request, logger: Logger, caller: AuthenticatedCaller? = nil, query: Query, parameter: String,
        channel: any Channel, proxies: TrustedProxies, use: DeviceUse? = nil, cookie: SessionCookie? = nil
    ) {
        self.http = http
        requestLogger = logger
        self.caller = caller
        self.query = query
        self.parameter = parameter
        self.channel = channel
        self.proxies = proxies
        self.use = use
        self.cookie = cookie
    }

    /// Logs with the request ID and the caller. Created on demand, because most requests log nothing.
    var logger: Logger { requestLogger.withSession(caller?.session) }

    /// The ID in the path. An invalid ID is reported like an unknown one.
    func uniqueID() throws(Problem) -> UniqueID {
        guard let id = UniqueID(parameter) else { throw .notFound(parameter) }
        return id
    }

    /// The device ID in the path. An invalid ID is reported like an unknown one.
    func node() throws(Problem) -> NodeID {
        guard let node = NodeID(parameter) else { throw .notFound(parameter) }
        return node
    }

    /// The address of the client.
    var address: ClientAddress { proxies.client(of: http, from: channel.remoteAddress) }
    /// The value of `User-Agent`, truncated.
    var userAgent: String? { DeviceUse.userAgent(of: http.headers) }

    /// The value of a header; nil if it was not sent.
    subscript(header: HTTPField.Name) -> String? { http.headers[header] }
}

extension Problem {
    /// The ID is unknown, or belongs to another account: both give the same response.
    static func notFound(_ id: some CustomStringConvertible) -> Problem {
        Problem(.notFound, "This account has no object or device with the ID \(String(id.description.prefix(64))).")
    }
}
