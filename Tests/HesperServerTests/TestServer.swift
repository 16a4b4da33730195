import Foundation
import HTTPTypes
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import HesperServer

/// A server with a SQLite store of its own, in a temporary folder below `.build`.
struct TestServer: Sendable {
    let server: HesperServer
    let store: SQLiteStore
    let folder: URL

    /// Changes to the default settings of tests: open sign-up, a free port on loopback, cheap passwords.
    typealias Change = @Sendable (inout ServerSettings) -> Void

    init(_ change: Change = { _ in }, logger: Logger = TestServer.silent) throws {
        folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)
        store = try SQLiteStore(folder: folder)
        var settings = ServerSettings()
        settings.port = 0
        settings.signUp = .open
        settings.passwords.cost = 4
        change(&settings)
        server = try HesperServer(
            store: store, blobs: try FolderBlobs(path: folder.appending(path: "attachments").path),
            stage: try UploadFolder(path: folder.appending(path: "uploads").path), settings: settings, logger: logger)
    }

    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs a server during a test.
    static func test(
        _ setup: TestingSetup = .router, _ change: Change = { _ in }, logger: Logger = TestServer.silent,
        _ body: @Sendable (TestClient) async throws -> Void
    ) async throws {
        let test = try TestServer(change, logger: logger)
        defer { try? FileManager.default.removeItem(at: test.folder) }
        try await test.server.application().test(setup) { client in
            try await body(TestClient(client: client, test: test))
        }
    }
}

/// A client of a test server, signed in or not.
struct TestClient: Sendable {
    let client: any TestClientProtocol
    let test: TestServer
    var token: String?

    var port: Int { client.port ?? 0 }

    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ url: String, _ body: String? = nil, headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var headers = headers
        if let token, !headers.contains(.authorization) { headers[.authorization] = "Bearer \(token)" }
        if body != nil, !headers.contains(.contentType) { headers[.contentType] = "application/json" }
        let response = try await client.executeRequest(
            uri: url, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        return TestResponse(
            status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    static let password = "correct horse battery staple"

    /// Creates an account and returns its client.
    func signedUp(_ email: String = "ada@example.org", device: String = "phone") async throws -> TestClient {
        try await signed(at: "/v1/accounts", email, device)
    }

    /// Signs another device in and returns its client.
    func signedIn(_ email: String = "ada@example.org", device: String = "laptop") async throws -> TestClient {
        try await signed(at: "/v1/devices", email, device)
    }

    private func signed(at path: String, _ email: String, _ device: String) async throws -> TestClient {
        let response = try await send(
            .post, path, #"{"email":"\#(email)","password":"\#(TestClient.password)","deviceName":"\#(device)"}"#)
        #expect(response.status == 201, "\(response.text)")
        var client = self
        client.token = try response.json.member("token").string
        return client
    }
}

/// A response to a test's request.
struct TestResponse: Sendable {
    let status: Int
    let headers: HTTPFields
    let text: String

    var json: JSON {
        get throws { try JSONReader.read(Array(text.utf8)) }
    }

    /// The slug of a problem; nil for other responses.
    var slug: String? {
        get throws {
            guard headers[.contentType] == "application/problem+json" else { return nil }
            return try json.member("slug").string
        }
    }
}

extension JSON {
    /// A member that must exist.
    func member(_ name: String) throws -> JSON {
        guard case .object(let object) = self, let value = object[name] else { throw Missing(what: name) }
        return value
    }

    var string: String {
        get throws {
            guard case .string(let text) = self else { throw Missing(what: "a string") }
            return text
        }
    }

    var array: [JSON] {
        get throws {
            guard case .array(let elements) = self else { throw Missing(what: "an array") }
            return elements
        }
    }

    struct Missing: Error { let what: String }
}
