import HTTPTypes
import HesperModel
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves plain HTTP on a separate port: redirects `GET` and `HEAD` requests without an `Authorization` header to HTTPS, and
/// rejects all other requests.
///
/// The other requests may contain a token or a password. They are rejected, so that users notice that their client sends them
/// unencrypted.
struct PlainRedirect: HTTPResponder {
    /// The HTTPS port. Port 443 is omitted from URLs.
    let port: Int

    func respond(to request: Request, context: HesperContext) async throws -> Response {
        let requestID = RequestIdentity.adopt(from: request, or: RequestID().description).text
        var response = self.response(to: request, requestID)
        response.headers[.requestID] = requestID
        response.headers[.cacheControl] = "no-store"
        BrowserDefences.add(to: &response.headers)
        return request.method == .head ? try await response.withoutBody() : response
    }

    private func response(to request: Request, _ requestID: String) -> Response {
        guard let host = request.head.authority.flatMap(PlainRedirect.name) else {
            return Problem(.malformedRequest, "The header Host must contain a host name or an address.").response(
                requestID: requestID)
        }
        let origin = "https://\(host)" + (port == 443 ? "" : ":\(port)")
        guard request.method == .get || request.method == .head, request.headers[.authorization] == nil else {
            return Problem(
                .forbidden,
                "The request was sent unencrypted, so its contents may have been read. Send it to \(origin)."
            ).response(requestID: requestID)
        }
        let path = request.head.path ?? "/"
        return Response(status: .permanentRedirect, headers: [.location: origin + (path.hasPrefix("/") ? path : "/")])
    }

    /// The host of a `Host` header, without the port. Nil if the host is empty, or contains a character that is not allowed in host
    /// names and addresses.
    static func name(_ authority: String) -> String? {
        var host = authority[...]
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            host = host[...end]
        } else if let colon = host.firstIndex(of: ":") {
            host = host[..<colon]
        }
        let isLegal = host.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"): true
            case UInt8(ascii: "["), UInt8(ascii: "]"): true
            default: false
            }
        }
        return isLegal && !host.isEmpty ? String(host) : nil
    }
}

/// The error if serving plain HTTP fails, for example because the server cannot listen on the port.
public struct PlainRedirectFailure: Error {
    public let cause: any Error
}

/// Runs the server of a ``PlainRedirect`` together with the main server. The errors of the redirect server are wrapped in
/// ``PlainRedirectFailure``, to distinguish them from errors of the main server.
struct PlainRedirectService<Server: ApplicationProtocol>: Service {
    let application: Server

    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw PlainRedirectFailure(cause: error)
        }
    }
}
