import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import Testing

@testable import HesperServer

@Suite("Event streams")
struct EventsTests {
    @Test("A reader that stops reading is disconnected, and is no longer counted as a listener")
    func stalledReader() async throws {
        let change: TestServer.Change = { $0.connections.stallSeconds = 1 }
        try await TestServer.test(.live, change) { client in
            let phone = try await client.signedUp()
            let laptop = try await client.signedIn()
            let stream = try RawConnection(port: client.port)
            stream.send("GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(phone.token ?? "")\r\n\r\n")
            let text = String(repeating: "x", count: 900_000)
            var listeners = JSON.integer(0)
            let message = #"{"uniqueID":"5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90","data":{}}"#
            for _ in 0..<6_000 where listeners == .integer(0) {
                listeners = try await laptop.send(.post, "/v1/ephemeral", message).json.member("listeners")
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(listeners == .integer(1))
            for _ in 0..<100 where listeners != .integer(0) {
                // More than the system buffers for a socket, so that the first event blocks all others.
                try await laptop.send(.post, "/v1/notes", #"{"text":"\#(text)"}"#)
                listeners = try await laptop.send(.post, "/v1/ephemeral", message).json.member("listeners")
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(listeners == .integer(0))
            withExtendedLifetime(stream) {}
        }
    }

    @Test("Progress of a stream is recorded once a minute while it changes, once an hour otherwise, and at the end")
    func progressIsRecorded() async throws {
        let test = try TestServer()
        defer { try? FileManager.default.removeItem(at: test.folder) }
        let uses = DeviceUses(store: test.store, logger: TestServer.silent)
        let start = Timestamp(clamping: 1_800_000_000_000)
        let now = NIOLockedValueBox(start)
        let progress = StreamProgress(of: .random(), from: 7, uses: uses) { now.withLockedValue { $0 } }
        func recorded(at seconds: Int64, _ sequence: Int64) -> Int64? {
            now.withLockedValue { $0 = start.adding(seconds * 1_000) }
            progress.update(to: sequence)
            return uses.takeWaiting().first?.readSequence
        }
        #expect(recorded(at: 30, 8) == nil)
        #expect(recorded(at: 60, 7) == nil)
        #expect(recorded(at: 61, 8) == 8)
        #expect(recorded(at: 119, 9) == nil)
        #expect(recorded(at: 121, 9) == 9)
        #expect(recorded(at: 3_000, 9) == nil)
        #expect(recorded(at: 3_721, 9) == 9)
        progress.end(at: 9)
        #expect(uses.takeWaiting().isEmpty)
        now.withLockedValue { $0 = start.adding(3_730_000) }
        progress.end(at: 11)
        let last = try #require(uses.takeWaiting().first)
        #expect(last.readSequence == 11)
        // Data of the last minute may not have arrived.
        #expect(last.date == start.adding(3_730_000 - 60_000))
    }
}
