import HTTPTypes
import Hummingbird
import ServiceLifecycle

/// Serves `GET /metrics` on a separate address, for a network that only the operator can reach.
struct MetricsListener: HTTPResponder {
    let metrics: Metrics

    /// The maximum number of concurrent connections. A program that collects metrics, such as Prometheus, needs one.
    static let connections = 16

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard request.uri.path == "/metrics" else { return Response(status: .notFound) }
        guard [.get, .head].contains(request.method) else {
            return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
        }
        let response = await metrics.response()
        return request.method == .head ? Response(status: .ok, headers: response.headers) : response
    }
}

/// Runs the HTTP server for metrics while the main server runs.
struct MetricsService<Server: ApplicationProtocol>: Service {
    let application: Server
    let address: MetricsAddress

    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw MetricsUnavailable(address: address, why: "\(error)")
        }
    }
}

/// The error if the server cannot listen on the address for metrics.
public struct MetricsUnavailable: Error, Sendable {
    public let address: MetricsAddress
    public let why: String
}

/// The separate address on which metrics are served.
public struct MetricsAddress: Sendable, Equatable, CustomStringConvertible {
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
