import HTTPTypes
import HesperModel
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Plain HTTP on a port of its own: sends browsers to HTTPS, and tells all others off.
///
/// Only what carries no secret is sent on: a client that sends its token or password in the clear must not go unnoticed.
struct PlainRedirect: HTTPResponder {
    /// The port of HTTPS; 443 is left out of addresses.
    let port: Int

    func respond(to request: Request, context: HesperContext) async throws -> Response {
        let requestID = RequestIdentity.adopt(from: request, or: RequestID().description).text
        var response = answer(request, requestID)
        response.headers[.requestID] = requestID
        response.headers[.cacheControl] = "no-store"
        BrowserDefences.add(to: &response.headers)
        return request.method == .head ? try await response.withoutBody() : response
    }

    private func answer(_ request: Request, _ requestID: String) -> Response {
        guard let host = request.head.authority.flatMap(PlainRedirect.name) else {
            return Problem(.malformedRequest, "The header Host has no name of a server.").response(requestID: requestID)
        }
        let origin = "https://\(host)" + (port == 443 ? "" : ":\(port)")
        guard request.method == .get || request.method == .head, request.headers[.authorization] == nil else {
            return Problem(
                .forbidden, "What was sent came in the clear, for all on the way to read. Send it to \(origin)."
            ).response(requestID: requestID)
        }
        let path = request.head.path ?? "/"
        return Response(status: .permanentRedirect, headers: [.location: origin + (path.hasPrefix("/") ? path : "/")])
    }

    /// The host without its port, if it is a name or an address.
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

/// The port of plain HTTP cannot be listened on.
public struct PlainRedirectFailure: Error {
    public let cause: any Error
}

/// Runs a ``PlainRedirect`` beside the server, and says whose error it is when that fails.
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
