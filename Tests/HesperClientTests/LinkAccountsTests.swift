import HesperClient
import HesperModel
import Testing

@Suite struct LinkAccountsTests {
    /// Returns the same response to every request.
    private final class Scripted: Transport {
        let response: Result<ServerResponse, NoResponse>
        private let requests = Locked<[ServerRequest]>([])
        var first: ServerRequest? { requests.withLock { $0.first } }

        init(_ response: Result<ServerResponse, NoResponse>) { self.response = response }

        func send(_ request: ServerRequest) async throws(NoResponse) -> ServerResponse {
            requests.withLock { $0.append(request) }
            return try response.get()
        }

        func events(_ request: ServerRequest) -> AsyncThrowingStream<ServerEvent, any Error> {
            AsyncThrowingStream { $0.finish() }
        }
    }

    private static let credentials = Accounts.Credentials(
        email: "ada@example.org", password: "secret \"words\"", deviceName: "phone")

    private func accounts(_ transport: Scripted) throws -> Accounts {
        Accounts(server: try ServerURL("https://notes.example.org"), transport: transport)
    }

    private static let signedIn: JSON = [
        "account": ["uniqueID": "3e1d9a52-7c40-4f0b-8e63-5b2a9d8c7f10", "email": "ada@example.org", "later": 1],
        "device": ["uniqueID": "2c26b46b68ffc68f", "name": "phone"], "token": "4QrWn0",
    ]

    @Test func signingIn() async throws {
        let transport = Scripted(.success(ServerResponse(status: 201, body: LinkAccountsTests.signedIn.bytes)))
        let session = try await accounts(transport).signIn(LinkAccountsTests.credentials)
        #expect(session.account == UniqueID("3e1d9a52-7c40-4f0b-8e63-5b2a9d8c7f10"))
        #expect(session.device == NodeID("2c26b46b68ffc68f"))
        #expect(session.token == "4QrWn0")
        #expect(session.server.description == "https://notes.example.org")
        let request = try #require(transport.first)
        #expect(request.method == "POST")
        #expect(request.path == "/v1/devices")
        #expect(request.token == nil)
        let body: JSON = ["email": "ada@example.org", "password": "secret \"words\"", "deviceName": "phone"]
        #expect(try JSONReader.read(request.body) == body)
    }

    @Test func signingUpWithAnInvitation() async throws {
        let transport = Scripted(.success(ServerResponse(status: 201, body: LinkAccountsTests.signedIn.bytes)))
        var credentials = LinkAccountsTests.credentials
        credentials.appVersion = "Recipes 1.2"
        _ = try await accounts(transport).signUp(credentials, invitation: "K7QM2")
        let request = try #require(transport.first)
        #expect(request.path == "/v1/accounts")
        let body = try JSONReader.read(request.body)
        #expect(body["invitation"] == "K7QM2")
        #expect(body["appVersion"] == "Recipes 1.2")
    }

    @Test func theTokenIsNotPrinted() async throws {
        let transport = Scripted(.success(ServerResponse(status: 201, body: LinkAccountsTests.signedIn.bytes)))
        let session = try await accounts(transport).signIn(LinkAccountsTests.credentials)
        var dumped = ""
        dump(session, to: &dumped)
        for text in ["\(session)", String(reflecting: session), "\([session])", dumped] {
            #expect(!text.contains("4QrWn0"))
        }
    }

    @Test func theStoredFormOfASession() throws {
        var session = Session(
            server: try ServerURL("https://notes.example.org:8443"), account: .random(), email: "ada@example.org",
            device: .random(), deviceName: "phone", token: "4QrWn0")
        #expect(Session(json: session.json) == session)
        session.token = nil
        #expect(Session(json: session.json) == session)
        #expect(Session(json: [:]) == nil)
        #expect(Session(json: nil) == nil)
    }

    @Test(arguments: [
        (401, #"{"slug": "unauthenticated"}"#, AccountError.wrongPassword),
        (403, #"{"slug": "account-disabled"}"#, .accountDisabled),
        (403, #"{"slug": "sign-up-closed"}"#, .signUpClosed), (409, #"{"slug": "email-taken"}"#, .emailTaken),
        (429, #"{"slug": "too-many-requests", "retryAfter": 4}"#, .tooManyAttempts(retryAfter: .seconds(4))),
        (
            422, #"{"slug": "invalid-field", "pointer": "/password", "detail": "Too short."}"#,
            .invalidField("password", "Too short.")
        ),
        (503, "", .serverFailed("The server answered with status 503", retryAfter: nil)),
        (
            503, #"{"slug": "unavailable", "detail": "Starting.", "retryAfter": 5}"#,
            .serverFailed("Starting.", retryAfter: .seconds(5))
        ),
        (500, #"{"slug": "new-slug", "detail": "New."}"#, .serverFailed("New.", retryAfter: nil)),
        (404, "<html>", .notHesper), (405, "", .notHesper), (200, "<html>Log in</html>", .notHesper),
    ])
    func errors(status: Int, body: String, expected: AccountError) async throws {
        let transport = Scripted(.success(ServerResponse(status: status, body: Array(body.utf8))))
        await #expect(throws: expected) { try await accounts(transport).signIn(LinkAccountsTests.credentials) }
        #expect(!expected.description.isEmpty)
        #expect(!expected.description.contains("secret"))
    }

    @Test func offline() async throws {
        let transport = Scripted(.failure(NoResponse("There is no network.")))
        await #expect(throws: AccountError.offline("There is no network.")) {
            try await accounts(transport).serverInfo()
        }
    }

    @Test func anOldServer() async throws {
        let features = ServerInfo.requiredFeatures.dropLast().map { JSON.string($0) }
        let info: JSON = ["name": "Hesper", "version": "0.1", "features": .array(features)]
        let transport = Scripted(.success(ServerResponse(status: 200, body: info.bytes)))
        await #expect(throws: AccountError.serverTooOld(missing: ["text-descent"])) {
            try await accounts(transport).serverInfo()
        }
    }

    @Test(arguments: [(404, ""), (200, "<html>"), (301, ""), (404, #"{"slug": "not-found"}"#), (200, "{}")])
    func anotherServer(status: Int, body: String) async throws {
        let transport = Scripted(.success(ServerResponse(status: status, body: Array(body.utf8))))
        await #expect(throws: AccountError.notHesper) { try await accounts(transport).serverInfo() }
    }
}
