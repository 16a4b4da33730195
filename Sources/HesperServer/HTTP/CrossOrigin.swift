import HTTPTypes
import Hummingbird

/// Determines which pages of other origins may call the API with a bearer token (CORS, in the Fetch standard; protocol.md, HTTP
/// rules). Such pages cannot use session cookies, because no response has the header `Access-Control-Allow-Credentials`.
struct CrossOrigin: Sendable {
    private let origins: Set<String>
    private let allowsLoopback: Bool

    /// - Parameters:
    ///   - origins: the allowed origins, each with scheme, host and port, as browsers send them in `Origin`.
    ///   - allowsLoopback: whether pages of `http://localhost` and `http://127.0.0.1`, on any port, may call the API too.
    init(origins: [String], allowsLoopback: Bool) {
        self.origins = Set(origins)
        self.allowsLoopback = allowsLoopback
    }

    func allows(_ origin: String) -> Bool {
        if origins.contains(origin) { return true }
        guard allowsLoopback else { return false }
        for host in ["http://localhost", "http://127.0.0.1"] where origin.hasPrefix(host) {
            let rest = origin.dropFirst(host.count)
            return rest.isEmpty || rest.first == ":" && rest.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        return false
    }

    /// If the request comes from a page of an allowed origin, adds the headers that let the page read the response.
    func expose(_ response: inout Response, to request: Request) {
        guard let origin = request.headers[.origin], allows(origin) else { return }
        response.headers.append(HTTPField(name: .accessControlAllowOrigin, value: origin))
        response.headers.append(
            HTTPField(
                name: .accessControlExposeHeaders,
                value:
                    "ETag, Location, Content-Location, Retry-After, X-Request-ID, RateLimit, RateLimit-Policy, Idempotency-Replayed, Link, Preference-Applied, Unindexed, Upload-Offset, Upload-Complete, Upload-Limit"
            ))
    }

    /// The response to an `OPTIONS` request, which may be a CORS preflight request of a browser.
    /// - Parameter allowed: the methods of the path, as in `Allow`.
    func options(_ request: Request, allowed: String) -> Response {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .allow, value: allowed))
        if let origin = request.headers[.origin], allows(origin), request.headers[.accessControlRequestMethod] != nil {
            headers.append(HTTPField(name: .accessControlAllowMethods, value: allowed))
            headers.append(
                HTTPField(
                    name: .accessControlAllowHeaders,
                    value:
                        "Authorization, Content-Type, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, X-Request-ID, Idempotency-Key, Prefer, Repr-Digest, Content-Digest, Upload-Complete, Upload-Length, Upload-Offset"
                ))
            headers.append(HTTPField(name: .accessControlMaxAge, value: "7200"))
            headers.append(HTTPField(name: .vary, value: "Origin, Access-Control-Request-Method"))
        }
        return Response(status: .noContent, headers: headers)
    }
}
