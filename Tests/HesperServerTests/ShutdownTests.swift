import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

@testable import HesperServer

/// Graceful shutdown completes accepted requests.
@Suite struct ShutdownTests {
    @Test func acceptedRequestsAreCompleted() async throws {
        // Together with all other tests, this one may take minutes.
        let test = try TestServer { $0.connections.bodySeconds = 900 }
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let app = test.server.application { port.yield($0 ?? 0) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [app], logger: TestServer.silent))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let number = try #require(await ports.first { _ in true })
            let body = #"{"email":"ada@example.org","password":"12345678","deviceName":"phone"}"#
            let connection = try RawConnection(port: number)
            let idle = try RawConnection(port: number)
            connection.send(
                "POST /v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\nExpect: 100-continue\r\n\r\n")
            // The request is being processed.
            #expect(connection.read(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            connection.send(String(body.prefix(10)))
            await group.triggerGracefulShutdown()
            // New connections are refused, and idle ones closed.
            var isRefused = false
            for _ in 0..<1_200 where !isRefused {
                do {
                    _ = try RawConnection(port: number)
                    try await Task.sleep(for: .milliseconds(50))
                } catch is RawConnection.Refused {
                    isRefused = true
                }
            }
            #expect(isRefused)
            #expect(idle.readToEnd().isEmpty)
            connection.send(String(body.dropFirst(10)))
            let response = connection.readToEnd()
            #expect(response.hasPrefix("HTTP/1.1 201 "), "\(response)")
            #expect(response.contains("hesper_"))
            try await tasks.waitForAll()
        }
        #expect(try await test.store.read { try $0.accounts() }.count == 1)
    }
}
