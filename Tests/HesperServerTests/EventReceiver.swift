import HTTPTypes
import HesperModel
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// An HTTP server on loopback that records the bodies of all requests and responds with 204.
final class EventReceiver: Sendable {
    let port: Int
    private let bodies: NIOLockedValueBox<[String]>
    private let task: Task<Void, any Error>

    init() async throws {
        let bodies = NIOLockedValueBox<[String]>([])
        let router = Router()
        router.post("/") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            bodies.withLockedValue { $0.append(String(buffer: body)) }
            return HTTPResponse.Status.noContent
        }
        let ports = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { ports.continuation.yield($0.localAddress?.port ?? 0) }, logger: TestServer.silent)
        task = Task { try await application.run() }
        var iterator = ports.stream.makeAsyncIterator()
        port = await iterator.next() ?? 0
        self.bodies = bodies
    }

    /// Returns and forgets the bodies of the requests so far.
    func take() -> [String] {
        bodies.withLockedValue { bodies in
            defer { bodies = [] }
            return bodies
        }
    }

    func close() async throws {
        task.cancel()
        _ = await task.result
    }
}
