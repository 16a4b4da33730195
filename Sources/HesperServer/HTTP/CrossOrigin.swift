import HTTPTypes
import Hummingbird

/// Which pages of other origins may call the API with a bearer token (the Fetch standard's CORS; protocol.md, HTTP rules).
/// Cookies do not work across origins: no response allows credentials.
struct CrossOrigin: Sendable {
    private let origins: Set<String>
    private let allowsLoopback: Bool

    /// - Parameters:
    ///   - origins: scheme, host and port, as browsers send them in `Origin`.
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

    /// Adds the headers that let pages of an allowed origin read the response.
    func expose(_ response: inout Response, to request: Request) {
        guard let origin = request.headers[.origin], allows(origin) else { return }
        response.headers.append(HTTPField(name: .accessControlAllowOrigin, value: origin))
        response.headers.append(
            HTTPField(
                name: .accessControlExposeHeaders,
                value:
                    "ETag, Location, Content-Location, Retry-After, X-Request-ID, RateLimit, RateLimit-Policy, Idempotency-Replayed, Upload-Offset, Upload-Complete, Upload-Limit"
            ))
    }

    /// The response to `OPTIONS`, both to a preflight and to other requests.
    func options(_ request: Request, allowed: String) -> Response {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .allow, value: allowed))
        if let origin = request.headers[.origin], allows(origin), request.headers[.accessControlRequestMethod] != nil {
            headers.append(HTTPField(name: .accessControlAllowMethods, value: allowed))
            headers.append(
                HTTPField(
                    name: .accessControlAllowHeaders,
                    value:
                        "Authorization, Content-Type, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, X-Request-ID, Idempotency-Key, Repr-Digest, Content-Digest, Upload-Complete, Upload-Length, Upload-Offset"
                ))
            headers.append(HTTPField(name: .accessControlMaxAge, value: "7200"))
            headers.append(HTTPField(name: .vary, value: "Origin, Access-Control-Request-Method"))
        }
        return Response(status: .noContent, headers: headers)
    }
}
