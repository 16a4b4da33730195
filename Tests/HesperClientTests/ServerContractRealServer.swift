import Foundation
import HesperClient

/// The server binary in the environment variable HESPER_BINARY, started once for all tests.
actor RealServer {
    static let shared = RealServer()
    static var binary: String? { ProcessInfo.processInfo.environment["HESPER_BINARY"] }

    private struct Failure: Error { let reason: String }
    private var running: Task<URLSessionTransport, any Error>?
    /// The pipe to the process. The process ends when this end is closed, also if the test process crashes.
    private let input = Pipe()

    /// The address of the server.
    func address() async throws -> String { try await transport().server.description }

    func transport() async throws -> URLSessionTransport {
        if let running { return try await running.value }
        let task = Task { try await start() }
        running = task
        return try await task.value
    }

    private func start() async throws -> URLSessionTransport {
        guard let binary = RealServer.binary else { throw Failure(reason: "HESPER_BINARY is not set") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hesper-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Another process may take the port between its choice and its use.
        for _ in 0..<3 {
            let port = Int.random(in: 12_000..<30_000)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script =
                #"data=$1; shift; "$@" >"$data/log" 2>&1 & pid=$!; cat >/dev/null; kill $pid; wait $pid; rm -rf "$data""#
            process.arguments = [
                "-c", script, "sh", folder.path, binary, "serve", "--host", "127.0.0.1", "--port", "\(port)", "--data",
                folder.path,
            ]
            var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HESPER_") }
            environment["HESPER_REQUESTS_PER_MINUTE"] = "none"
            environment["HESPER_PASSWORD_COST"] = "10"
            process.environment = environment
            process.standardInput = input
            try process.run()
            let transport = URLSessionTransport(server: try ServerURL("http://127.0.0.1:\(port)"))
            if await isReady(transport) { return transport }
            process.terminate()
        }
        throw Failure(reason: "the server did not start")
    }

    private func isReady(_ transport: any Transport) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if let response = try? await transport.send(ServerRequest("GET", "/readyz")), response.status == 200 {
                return true
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
