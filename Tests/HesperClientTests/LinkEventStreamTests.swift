import Foundation
import HesperClient
import Testing

@Suite(.timeLimit(.minutes(10))) struct LinkEventStreamTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    private func stream(
        _ server: LinkSocketServer, _ limits: URLSessionTransport.Limits = .init()
    ) throws -> (URLSessionTransport, AsyncThrowingStream<ServerEvent, any Error>) {
        let transport = URLSessionTransport(server: try ServerURL(server.url), limits: limits)
        return (transport, transport.events(ServerRequest("GET", "/v1/events?since=A", token: "secret")))
    }

    @Test func eventsArriveWhileTheStreamIsOpen() async throws {
        let isRead = DispatchSemaphore(value: 0)
        let server = try LinkSocketServer { _, connection in
            connection.write(LinkEventStreamTests.head + "event: changes\ndata: 1\n\nevent: cha")
            _ = isRead.wait(timeout: .now() + 20)
            connection.write("nges\ndata: 2\n\ndata: incomplete")
        }
        let (transport, stream) = try stream(server)
        var events: [ServerEvent] = []
        for try await event in stream {
            events.append(event)
            isRead.signal()
        }
        #expect(events == ["1", "2"].map { ServerEvent(name: "changes", data: Array($0.utf8)) })
        let request = try #require(server.requests.first)
        #expect(request.path == "/v1/events?since=A")
        #expect(request.headers["accept"] == "text/event-stream")
        #expect(request.headers["authorization"] == "Bearer secret")
        withExtendedLifetime(transport) {}
    }

    @Test func cancellationClosesTheConnection() async throws {
        let arrived = LinkSignal<Void>()
        let closed = LinkSignal<Bool>()
        let server = try LinkSocketServer { _, connection in
            connection.write(LinkEventStreamTests.head + "data: 1\n\n")
            closed.send(connection.waitForClose())
        }
        let (transport, stream) = try stream(server)
        let reader = Task { for try await _ in stream { arrived.send(()) } }
        #expect(await arrived.next() != nil)
        reader.cancel()
        #expect(await closed.next() == true)
        try await reader.value
        withExtendedLifetime(transport) {}
    }

    @Test func aRefusedStream() async throws {
        let body = #"{"slug": "unauthenticated", "detail": "Sign in."}"#
        let server = try LinkSocketServer { _, connection in connection.respond("401 Unauthorized", body) }
        let (transport, stream) = try stream(server)
        let error = await #expect(throws: StreamRefused.self) { for try await _ in stream {} }
        #expect(error?.response.status == 401)
        #expect(error?.response.body == Array(body.utf8))
        withExtendedLifetime(transport) {}
    }

    @Test func aPageOfAProxyIsNotAStream() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.respond("200 OK", headers: "Content-Type: text/html\r\n", "data: 1\n\n")
        }
        let (transport, stream) = try stream(server)
        let error = await #expect(throws: StreamRefused.self) { for try await _ in stream {} }
        #expect(error?.response.status == 200)
        withExtendedLifetime(transport) {}
    }

    @Test func silenceEndsTheStream() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.write(LinkEventStreamTests.head + "data: 1\n\n")
            _ = connection.waitForClose()
        }
        var limits = URLSessionTransport.Limits()
        limits.streamSilence = .seconds(2)
        let (transport, stream) = try stream(server, limits)
        var count = 0
        await #expect(throws: NoResponse.self) { for try await _ in stream { count += 1 } }
        #expect(count == 1)
        withExtendedLifetime(transport) {}
    }

    @Test func heartbeatsKeepTheStreamOpen() async throws {
        let pause = DispatchSemaphore(value: 0)
        let server = try LinkSocketServer { _, connection in
            connection.write(LinkEventStreamTests.head)
            // Twenty pauses of 0.5 s: together longer than the silence that ends a stream. A busy machine may extend a single one.
            for _ in 0..<20 {
                _ = pause.wait(timeout: .now() + 0.5)
                connection.write(":\n")
            }
            connection.write("data: 1\n\n")
        }
        var limits = URLSessionTransport.Limits()
        limits.streamSilence = .seconds(8)
        let (transport, stream) = try stream(server, limits)
        var count = 0
        for try await _ in stream { count += 1 }
        #expect(count == 1)
        withExtendedLifetime(transport) {}
    }

    @Test func aReaderThatIsTooSlow() async throws {
        let closed = LinkSignal<Bool>()
        let server = try LinkSocketServer { _, connection in
            connection.write(LinkEventStreamTests.head + String(repeating: "data: 1\n\n", count: 100))
            closed.send(connection.waitForClose())
        }
        var limits = URLSessionTransport.Limits()
        limits.waitingEvents = 10
        let (transport, stream) = try stream(server, limits)
        #expect(await closed.next() == true)
        var count = 0
        await #expect(throws: NoResponse("Too many events are waiting to be read.")) {
            for try await _ in stream { count += 1 }
        }
        #expect(count == 10)
        withExtendedLifetime(transport) {}
    }
}
