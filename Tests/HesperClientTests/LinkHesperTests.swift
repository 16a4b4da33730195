import Foundation
import HesperClient
import HesperModel
import Testing

/// The transport, accounts and transfers with a real server.
@Suite(.needsHesper, .serialized, .timeLimit(.minutes(10))) struct LinkHesperTests {
    private func sync(_ hesper: LinkHesper, _ session: Session, _ body: JSON) async throws -> JSON {
        let response = try await hesper.transport.send(
            ServerRequest(
                "POST", "/v1/sync", headers: ["content-type": "application/json"], body: body.bytes,
                token: session.token))
        #expect(response.status == 200)
        return try JSONReader.read(response.body)
    }

    @Test func accounts() async throws {
        let hesper = try await LinkHesper()
        let accounts = hesper.accounts
        let info = try await accounts.serverInfo()
        #expect(info.name == "Hesper")
        #expect(info.missingFeatures.isEmpty)
        #expect(info.limits["textBytes"] == Int64(Limits.textBytes))
        #expect(info.serverClock != nil)
        #expect(info.signUp == "open")
        #expect(info.needsFirstAccount)

        let credentials = hesper.credentials()
        let phone = try await accounts.signUp(credentials)
        #expect(phone.email == credentials.email)
        #expect(phone.deviceName == "phone")
        #expect(Session(json: phone.json) == phone)
        await #expect(throws: AccountError.emailTaken) { try await accounts.signUp(credentials) }

        let laptop = try await accounts.signIn(
            hesper.credentials(credentials.email, device: "laptop"), continuing: phone)
        #expect(laptop.account == phone.account)
        #expect(laptop.device != phone.device)
        var wrong = credentials
        wrong.password += "!"
        await #expect(throws: AccountError.wrongPassword) { try await accounts.signIn(wrong) }
        wrong.password = "short"
        wrong.email = "new@example.org"
        let invalid = await #expect(throws: AccountError.self) { try await accounts.signUp(wrong) }
        guard case .invalidField("password", _)? = invalid else {
            Issue.record("\(String(describing: invalid))")
            return
        }

        let other = try await accounts.signUp(hesper.credentials())
        await #expect(throws: AccountError.otherAccount(other.email)) {
            try await accounts.signIn(credentials, continuing: other)
        }
        let devices = try await hesper.transport.send(ServerRequest("GET", "/v1/devices", token: phone.token))
        #expect(try JSONReader.read(devices.body)["devices"]?.elements.count == 2, "the refused device is signed out")

        try await accounts.signOut(laptop)
        try await accounts.signOut(laptop)
        let response = try await hesper.transport.send(ServerRequest("GET", "/v1/account", token: laptop.token))
        let problem = ServerProblem(response)
        #expect(problem.kind == .unauthenticated)
        #expect(problem.status == 401)
        #expect(problem.requestID != nil)
    }

    @Test func attemptsAreLimited() async throws {
        let hesper = try await LinkHesper()
        var credentials = hesper.credentials()
        _ = try await hesper.accounts.signUp(credentials)
        credentials.password = "a wrong password"
        for _ in 0..<40 {
            do {
                _ = try await hesper.accounts.signIn(credentials)
            } catch AccountError.tooManyAttempts(let retryAfter) {
                #expect(retryAfter >= .seconds(1))
                return
            } catch {
                #expect(error == .wrongPassword)
            }
        }
        Issue.record("no attempt was refused")
    }

    @Test func events() async throws {
        let hesper = try await LinkHesper()
        let session = try await hesper.accounts.signUp(hesper.credentials())
        let start = try #require(try await sync(hesper, session, [:])["syncToken"]?.string)
        let stream = hesper.transport.events(
            ServerRequest("GET", "/v1/events?since=\(start)", token: session.token))
        var events: [ServerEvent] = []
        do {
            for try await event in stream {
                events.append(event)
                if event.name == "listeners" {
                    let note: JSON = [
                        "uniqueID": .string(UniqueID.random().description), "creationDate": "2026-11-21T12:00:00.000Z",
                    ]
                    _ = try await sync(hesper, session, ["changes": ["notes": [note]]])
                }
                if event.name == "changes" { hesper.stop() }
            }
        } catch {
            #expect(error is NoResponse)
        }
        #expect(events.prefix(2).map(\.name) == ["listeners", "changes"])
        let page = try JSONReader.read(events[1].data)
        #expect(page["changes"]?["notes"]?.elements.count == 1)
        let last = try #require(events.last)
        #expect(last.name == "", "a server that stops states when to reconnect")
        #expect((500...3_000).contains(last.retry ?? 0))
    }

    @Test func aRefusedStream() async throws {
        let hesper = try await LinkHesper()
        let stream = hesper.transport.events(ServerRequest("GET", "/v1/events", token: "wrong"))
        let error = await #expect(throws: StreamRefused.self) { for try await _ in stream {} }
        #expect(error.map { ServerProblem($0.response).kind } == .unauthenticated)
    }

    @Test func bytesGoUpAndComeDown() async throws {
        let hesper = try await LinkHesper()
        let session = try await hesper.accounts.signUp(hesper.credentials())
        for size in [0, 1_000, 9 << 20] {
            let bytes = TransferBench.bytes(size, seed: size)
            let phone = try TransferBench()
            let id = try phone.attach(bytes)
            try await run(phone, hesper, session)
            #expect(try phone.needsBytes(id) == false)

            let properties: JSON = ["mimeType": "image/png"]
            let response = try await hesper.transport.send(
                ServerRequest(
                    "PUT", "/v1/attachments/\(id)", headers: ["content-type": "application/json"],
                    body: properties.bytes, token: session.token))
            #expect(response.status == 201)

            let laptop = try TransferBench()
            _ = try laptop.receive(bytes, as: id)
            try await run(laptop, hesper, session)
            #expect(try laptop.content(id) == bytes)
        }
    }

    /// Every part is sent twice, as if its response had been lost.
    @Test func anUploadWithLostResponses() async throws {
        let hesper = try await LinkHesper()
        let session = try await hesper.accounts.signUp(hesper.credentials())
        let bench = try TransferBench()
        let bytes = TransferBench.bytes(9 << 20)
        let id = try bench.attach(bytes)
        var count = 0
        try await run(bench, hesper, session) { _ in
            count += 1
            return count % 2 == 1 && count < 10
        }
        #expect(try bench.needsBytes(id) == false)
        let head = try await hesper.transport.send(
            ServerRequest("HEAD", "/v1/attachments/\(id)/data", token: session.token))
        #expect(head.headers["repr-digest"] == TransferServer.digest(bytes))
    }

    /// Runs a core with the real server until nothing is left to transfer.
    /// - Parameter isLost: whether the response to a request is lost.
    private func run(
        _ bench: TransferBench, _ hesper: LinkHesper, _ session: Session,
        isLost: (ServerRequest) -> Bool = { _ in false }
    ) async throws {
        var core = TransferCore(seed: 1)
        var pending: [TransferCore.Effect] = []
        func step(_ input: TransferCore.Input) throws {
            pending += try bench.database.write { try core.step(input, $0, bench.files) }
        }
        try step(.start(token: try #require(session.token)))
        for _ in 0..<1_000 where !pending.isEmpty {
            switch pending.removeFirst() {
            case .send(let number, let request):
                let response = try await hesper.transport.send(request)
                try step(.response(number, isLost(request) ? .failure(NoResponse("lost")) : .success(response)))
            case .wake(let moment):
                bench.moveClock(to: moment)
                try step(.wake)
            case .status, .uploaded, .downloaded: break
            case .uploadRefused(_, let problem): Issue.record("\(problem)")
            case .signInAgain: Issue.record("the token is valid")
            }
        }
    }
}
