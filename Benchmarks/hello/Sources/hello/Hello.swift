import Hummingbird

/// Answers "hello" to everybody: `hello PORT`.
@main
struct Hello {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let port = Int(CommandLine.arguments[1]) else {
            print("usage: hello PORT")
            return
        }
        let router = Router()
        router.get("/") { _, _ in "hello" }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "hello"))
        try await application.runService()
    }
}
