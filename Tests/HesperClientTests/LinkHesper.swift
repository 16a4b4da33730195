import Foundation
import HesperClient
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A `hesper serve` process on a free loopback port, with an empty data folder. The environment variable
/// `HESPER_BINARY` names the executable; without it, tests with a real server are skipped.
final class LinkHesper {
    static let binary = ProcessInfo.processInfo.environment["HESPER_BINARY"]
    static let password = "correct horse battery staple"

    let server: ServerURL
    let transport: URLSessionTransport
    private let process = Process()
    private let folder: URL

    init() async throws {
        let port = try LinkSocketServer.unusedPort()
        server = try ServerURL("http://127.0.0.1:\(port)")
        transport = URLSessionTransport(server: server)
        folder = FileManager.default.temporaryDirectory.appending(path: "hesper-\(UUID())")
        process.executableURL = URL(filePath: try #require(LinkHesper.binary))
        process.arguments = ["serve", "--host", "127.0.0.1", "--port", "\(port)", "--data", folder.path()]
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HESPER_") }
        environment["HESPER_PASSWORD_COST"] = "10"
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let deadline = ContinuousClock.now + .seconds(300)
        while try await !isReady() {
            try #require(process.isRunning && ContinuousClock.now < deadline, "the server did not start")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func isReady() async throws -> Bool {
        do throws(NoResponse) {
            return try await transport.send(ServerRequest("GET", "/readyz")).isSuccess
        } catch {
            return false
        }
    }

    var accounts: Accounts { Accounts(server: server, transport: transport) }

    func credentials(_ email: String = "\(UUID())@example.org", device: String = "phone") -> Accounts.Credentials {
        Accounts.Credentials(email: email, password: LinkHesper.password, deviceName: device, appVersion: "Tests 1")
    }

    /// Ends the process as a person would, and waits for it.
    func stop() {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    deinit { if process.isRunning { stop() } }
}

extension Trait where Self == ConditionTrait {
    /// The test needs a real server.
    static var needsHesper: Self { .enabled("HESPER_BINARY is not set") { LinkHesper.binary != nil } }
}
