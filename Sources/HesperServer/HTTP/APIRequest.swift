import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore

/// A request with its context: the path and query parameters, the authenticated caller, and the connection.
///
/// It is a class, so that handlers can pass it on and keep it in closures without copying it.
final class APIRequest: Sendable {
    let http: Request
    /// Adds the request ID to every log message.
    private let requestLogger: Logger
    /// The authenticated caller; nil on open routes.
    let caller: AuthenticatedCaller?
    /// The query parameters. Only names that the route declares can occur, each at most once.
    let query: Query
    /// The value of the path parameter, such as the ID in place of `{uniqueID}`. Empty if the path has no parameter.
    let parameter: String
    let channel: any Channel
    /// The proxies whose forwarding headers are trusted.
    let proxies: TrustedProxies
    /// The use of the device by this request. Nil in two cases: the route is open, or nothing has to be recorded, because both the
    /// last recorded use of the device and its last recorded read position are less than a minute old.
    let use: DeviceUse?
    /// The session cookie that authenticates the request. Nil if the request is authenticated by an `Authorization` header, or if
    /// the route is open.
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

    /// A logger that adds the request ID, the account and the device to every message. It is created on each access, because most
    /// requests log nothing.
    var logger: Logger { requestLogger.withSession(caller?.session) }

    /// The object ID in the path.
    /// - Throws: `not-found` if the ID is invalid. The error is the same as for an ID that does not exist.
    func uniqueID() throws(Problem) -> UniqueID {
        guard let id = UniqueID(parameter) else { throw .notFound(parameter) }
        return id
    }

    /// The device ID in the path.
    /// - Throws: `not-found` if the ID is invalid. The error is the same as for an ID that does not exist.
    func node() throws(Problem) -> NodeID {
        guard let node = NodeID(parameter) else { throw .notFound(parameter) }
        return node
    }

    /// The address of the client, even if a trusted proxy has forwarded the request.
    var address: ClientAddress { proxies.client(of: http, from: channel.remoteAddress) }
    /// The value of the `User-Agent` header, truncated to the length that is stored.
    var userAgent: String? { DeviceUse.userAgent(of: http.headers) }

    /// The value of a header; nil if the request does not have the header.
    subscript(header: HTTPField.Name) -> String? { http.headers[header] }
}

extension Problem {
    /// The error for an ID that does not exist or that belongs to another account. Both cases give the same response.
    static func notFound(_ id: some CustomStringConvertible) -> Problem {
        Problem(.notFound, "This account has no object or device with the ID \(String(id.description.prefix(64))).")
    }
}
