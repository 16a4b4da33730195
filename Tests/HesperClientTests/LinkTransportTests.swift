import Foundation
import HesperClient
import Testing

@Suite(.timeLimit(.minutes(10))) struct LinkTransportTests {
    private func transport(
        _ server: LinkSocketServer, _ limits: URLSessionTransport.Limits = .init()
    ) throws -> URLSessionTransport {
        URLSessionTransport(server: try ServerURL(server.url), limits: limits)
    }

    private func failure(_ transport: URLSessionTransport, _ request: ServerRequest) async -> NoResponse? {
        do throws(NoResponse) {
            _ = try await transport.send(request)
            return nil
        } catch {
            return error
        }
    }

    @Test func aRequestAndItsResponse() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.respond("409 Conflict", headers: "Upload-Offset: 5\r\nX-Mixed-Case: a, b\r\n", "{}")
        }
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let response = try await transport(server).send(
            ServerRequest(
                "PATCH", "/v1/uploads/x?limit=5", headers: ["upload-offset": "5"], body: body, token: "secret"))
        #expect(response.status == 409)
        #expect(!response.isSuccess)
        #expect(response.headers["upload-offset"] == "5")
        #expect(response.headers["x-mixed-case"] == "a, b")
        #expect(response.body == Array("{}".utf8))
        let request = try #require(server.requests.first)
        #expect(request.method == "PATCH")
        #expect(request.path == "/v1/uploads/x?limit=5")
        #expect(request.headers["authorization"] == "Bearer secret")
        #expect(request.headers["upload-offset"] == "5")
        #expect(request.headers["content-length"] == "100000")
        #expect(request.body == body)
    }

    @Test func aWriteWithoutBodyHasALength() async throws {
        let server = try LinkSocketServer { _, connection in connection.respond("201 Created") }
        for method in ["PUT", "POST"] { _ = try await transport(server).send(ServerRequest(method, "/v1/x")) }
        #expect(server.requests.map { $0.headers["content-length"] } == ["0", "0"])
    }

    @Test func aHeadHasNoBody() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n")
        }
        let response = try await transport(server).send(ServerRequest("HEAD", "/v1/x"))
        #expect(response.status == 200)
        #expect(response.headers["content-length"] == "1000")
        #expect(response.body.isEmpty)
    }

    @Test func cookiesAreNeitherKeptNorSent() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.respond("200 OK", headers: "Set-Cookie: hesper=1; Path=/\r\nCache-Control: max-age=600\r\n")
        }
        let transport = try transport(server)
        for _ in 0..<2 { _ = try await transport.send(ServerRequest("GET", "/v1/x")) }
        #expect(server.requests.count == 2, "the second response does not come from a cache")
        #expect(server.requests.allSatisfy { $0.headers["cookie"] == nil })
    }

    @Test func unauthorizedIsAResponse() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.respond("401 Unauthorized", headers: "WWW-Authenticate: Bearer\r\n", "{}")
        }
        #expect(try await transport(server).send(ServerRequest("GET", "/v1/x", token: "old")).status == 401)
        #expect(server.requests.count == 1)
    }

    // MARK: Redirects

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func redirectsOfWritesAreRefused(method: String) async throws {
        let server = try LinkSocketServer { request, connection in
            connection.respond("307 Temporary Redirect", headers: "Location: /elsewhere\r\n")
        }
        let response = try await transport(server).send(ServerRequest(method, "/v1/x", body: [1, 2], token: "secret"))
        #expect(response.status == 307)
        #expect(server.requests.map(\.path) == ["/v1/x"])
    }

    @Test func redirectsToAnotherServerAreRefused() async throws {
        let other = try LinkSocketServer { _, connection in connection.respond("200 OK") }
        let server = try LinkSocketServer { [url = other.url] _, connection in
            connection.respond("302 Found", headers: "Location: \(url)/v1/x\r\n")
        }
        let response = try await transport(server).send(ServerRequest("GET", "/v1/x", token: "secret"))
        #expect(response.status == 302)
        #expect(other.requests.isEmpty)
    }

    @Test func readsFollowRedirectsOfTheSameServer() async throws {
        let server = try LinkSocketServer { request, connection in
            if request.path == "/v1/x" {
                connection.respond("308 Permanent Redirect", headers: "Location: /v1/y\r\n")
            } else {
                connection.respond("200 OK", "found")
            }
        }
        let response = try await transport(server).send(ServerRequest("GET", "/v1/x"))
        #expect(response.status == 200)
        #expect(response.body == Array("found".utf8))
    }

    // MARK: No response

    @Test func nothingListens() async throws {
        let url = try ServerURL("http://127.0.0.1:\(LinkSocketServer.unusedPort())")
        let failure = await failure(URLSessionTransport(server: url), ServerRequest("GET", "/v1/x"))
        #expect(failure == NoResponse("The connection to the server failed."))
    }

    @Test func theConnectionEndsBeforeTheResponse() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly the beginning")
        }
        #expect(await failure(try transport(server), ServerRequest("GET", "/v1/x")) != nil)
    }

    /// On Linux, libcurl then repeats the request, and Foundation does not send the body again.
    @Test func aConnectionThatWasKeptOpenEndsBeforeTheResponse() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            _ = connection.readRequest()
        }
        let transport = try transport(server)
        let request = ServerRequest("POST", "/v1/x", body: Array(repeating: 1, count: 1_000))
        #expect(try await transport.send(request).status == 200)
        #expect(
            await failure(transport, request) == NoResponse("The connection ended before the response did."))
    }

    @Test func silence() async throws {
        let server = try LinkSocketServer { _, connection in _ = connection.waitForClose() }
        var limits = URLSessionTransport.Limits()
        limits.silence = .milliseconds(200)
        let failure = await failure(try transport(server, limits), ServerRequest("GET", "/v1/x"))
        #expect(failure == NoResponse("The server did not respond in time."))
    }

    @Test func aResponseThatNeverEnds() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly the beginning")
            _ = connection.waitForClose()
        }
        var limits = URLSessionTransport.Limits()
        limits.total = .milliseconds(200)
        let failure = await failure(try transport(server, limits), ServerRequest("GET", "/v1/x"))
        #expect(failure?.description.hasPrefix("The request took longer than") == true)
    }

    @Test func aBodyThatIsTooLarge() async throws {
        let server = try LinkSocketServer { _, connection in
            connection.respond("200 OK", String(repeating: "x", count: 1001))
        }
        var limits = URLSessionTransport.Limits()
        limits.bodyBytes = 1000
        let failure = await failure(try transport(server, limits), ServerRequest("GET", "/v1/x"))
        #expect(failure == NoResponse("The response is larger than 1000 bytes."))
        limits.bodyBytes = 1001
        #expect(try await transport(server, limits).send(ServerRequest("GET", "/v1/x")).body.count == 1001)
    }

    @Test func cancellationClosesTheConnection() async throws {
        let arrived = LinkSignal<Void>()
        let closed = LinkSignal<Bool>()
        let server = try LinkSocketServer { _, connection in
            arrived.send(())
            closed.send(connection.waitForClose())
        }
        let transport = try transport(server)
        let task = Task { await failure(transport, ServerRequest("GET", "/v1/x")) }
        #expect(await arrived.next() != nil)
        task.cancel()
        #expect(await task.value == NoResponse("The request was cancelled."))
        #expect(await closed.next() == true)
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        let server = try LinkSocketServer { _, connection in connection.respond("200 OK") }
        let transport = try transport(server)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(transport, ServerRequest("GET", "/v1/x"))
        }
        #expect(await task.value == NoResponse("The request was cancelled."))
        #expect(server.requests.isEmpty)
    }

    @Test func anInvalidPath() async throws {
        let server = try LinkSocketServer { _, connection in connection.respond("200 OK") }
        #expect(await failure(try transport(server), ServerRequest("GET", "v1/x")) != nil)
        #expect(server.requests.isEmpty)
    }
}
