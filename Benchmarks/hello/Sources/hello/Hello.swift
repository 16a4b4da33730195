import Hummingbird
import NIOCore
import ServiceLifecycle

/// Responds with "hello", and has an idle event stream: `hello PORT`.
@main
struct Hello {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let port = Int(CommandLine.arguments[1]) else {
            print("usage: hello PORT")
            return
        }
        let router = Router()
        router.get("/") { _, _ in "hello" }
        router.get("/events") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/event-stream"],
                body: .init { writer in
                    try await writer.write(ByteBuffer(string: ": hello\n\n"))
                    while !Task.isShuttingDownGracefully { try await Task.sleep(for: .seconds(2)) }
                })
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "hello"))
        try await application.runService()
    }
}
