import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// The faults of the server in memory.
@Suite struct MemoryServerTests {
    private func device(of server: MemoryServer) async throws -> ContractDevice {
        try await ContractDevice(server, "/v1/accounts", email: "ada@example.org")
    }

    @Test func aLostResponseWasApplied() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        let push: JSON = ["notes": [phone.note(.random(), "Milk")]]
        server.fail(.responseLost, path: "/v1/sync")
        await #expect(throws: NoResponse.self) { try await phone.sync(push) }
        #expect(try await phone.sync(push).at("results/0/status") == "unchanged")
    }

    @Test func aLostRequestWasNotApplied() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        let push: JSON = ["notes": [phone.note(.random(), "Milk")]]
        server.fail(.requestLost, path: "/v1/sync")
        await #expect(throws: NoResponse.self) { try await phone.sync(push) }
        #expect(try await phone.sync(push).at("results/0/status") == "applied")
        server.isOffline = true
        await #expect(throws: NoResponse.self) { try await phone.sync() }
    }

    @Test(arguments: [
        (Fault.unavailable(retryAfter: 7), Problem.Slug.unavailable),
        (.tooManyRequests(retryAfter: 7), .tooManyRequests),
        (.internalError, .internalError), (.storageFull, .storageFull), (.unauthenticated, .unauthenticated),
        (.tokenExpired, .tokenExpired),
    ])
    func requestsAreRefused(_ fault: Fault, _ slug: Problem.Slug) async throws {
        let server = MemoryServer()
        let phone = try await device(of: server)
        let token = try #require(try await phone.sync()["syncToken"])
        server.fail(fault, times: 2, path: "/v1/sync")
        for _ in 0..<2 {
            let response = try await phone.send("POST", "/v1/sync", ["syncToken": token])
            try expectProblem(response, slug)
            if case .unavailable = fault { #expect(response.headers["retry-after"] == "7") }
        }
        #expect(try await phone.sync(since: token)["syncToken"] == token)
    }

    @Test func pagesAreShort() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        for text in ["1", "2", "3"] { _ = try await phone.sync(["notes": [phone.note(.random(), text)]]) }
        server.fail(.shortPage(objects: 1), path: "/v1/sync")
        let page = try await phone.sync()
        #expect(page.at("changes/notes")?.elements.count == 1)
        #expect(page["hasMore"] == true)
        #expect(try await phone.sync(since: page["syncToken"]).at("changes/notes")?.elements.count == 2)
    }

    @Test func fieldsAreRejected() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        server.fail(.rejected(field: "text", slug: "invalid-field"), path: "/v1/sync")
        let response = try await phone.sync(["notes": [phone.note(.random(), "Milk")]])
        #expect(response.at("results/0/fields/text/problem/slug") == "invalid-field")
        #expect(response.at("changes/notes/0/text") == "")
    }

    @Test func aFullAccountRejectsWhatIsLonger() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        let id = UniqueID.random()
        let first = try await phone.sync(["notes": [phone.note(id, "Milk")]])
        server.setQuota(1)
        let tag = UniqueID.random()
        let response = try await phone.sync(
            [
                "notes": [phone.note(.random(), String(repeating: "Bread", count: 200))],
                "tags": [phone.tag(tag, "Shopping")],
                "deletedObjects": [["uniqueID": id.json, "objectType": "note"]],
            ], since: first["syncToken"])
        #expect(response.at("results")?.elements.map { $0["status"] } == ["rejected", "applied", "applied"])
        #expect(response.at("results/0/problem/slug") == "quota-exceeded")
        let upload = try await phone.upload([1, 2], as: .random())
        try expectProblem(upload, .quotaExceeded)
        #expect(try await phone.get("/v1/account")["quotaBytes"] == 1)
    }

    @Test(arguments: [false, true])
    func aRestoredServerHasEarlierDataAndRefusesTokens(signingOut: Bool) async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        let backup = server.backUp()
        let picture = UniqueID.random()
        _ = try await phone.upload([1], as: picture)
        let pushed = try await phone.sync(["notes": [phone.note(.random(), "Milk")]])
        server.restore(backup, signingOut: signingOut)
        let refused = try await phone.send("POST", "/v1/sync", ["syncToken": pushed["syncToken"] ?? nil])
        try expectProblem(refused, signingOut ? .unauthenticated : .tokenExpired)
        guard !signingOut else { return }
        #expect(try await phone.sync().at("changes/notes") == [])
        // The bytes of attachments are stored apart from the database.
        #expect(try await phone.send("HEAD", "/v1/attachments/\(picture)/data").status == 200)
    }

    @Test func anEarlierServerRejectsTextsAndFilesOfObjects() async throws {
        let server = MemoryServer()
        server.lacksObjectTexts = true
        var phone = try await device(of: server)
        let features = try await phone.get("/v1/server")["features"]?.elements ?? []
        #expect(features.contains("objects"))
        #expect(!features.contains("object-texts") && !features.contains("object-files"))
        let recipe: JSON = [
            "uniqueID": UniqueID.random().json, "objectType": "recipe", "attributes": ["title": "Soup"],
            "texts": ["method": "Boil."], "files": ["photo": nil],
            "clocks": [
                "attributes": ["title": phone.clock()], "texts": ["method": phone.clock()],
                "files": ["photo": phone.clock()],
            ],
        ]
        let response = try await phone.sync(["objects": [recipe]])
        #expect(response.at("results/0/fields/texts/problem/slug") == "unknown-field")
        #expect(response.at("results/0/fields/files/problem/slug") == "unknown-field")
        #expect(response.at("changes/objects/0/attributes") == ["title": "Soup"])
        #expect(response.at("changes/objects/0/texts") == nil)
    }

    @Test func historyIsThinned() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        let id = UniqueID.random()
        for title in ["Soup", "Leek soup", "Cold soup"] {
            let recipe: JSON = [
                "uniqueID": id.json, "objectType": "recipe", "attributes": ["title": .string(title)],
                "clocks": ["attributes": ["title": phone.clock()]],
            ]
            _ = try await phone.sync(["objects": [recipe]])
        }
        server.thinHistory()
        let edits = try await phone.get("/v1/objects/\(id)/edits")["edits"]?.elements ?? []
        #expect(edits.map { $0["value"] } == ["Cold soup", nil, nil])
        #expect(edits.compactMap { $0["clock"]?.clock }.count == 3)
    }

    @Test func theClockOfTheServerIsWrong() async throws {
        let server = MemoryServer()
        var phone = try await device(of: server)
        server.clockError = -3_600
        let response = try await phone.sync(["notes": [phone.note(.random(), "Milk")]])
        #expect(response.at("results/0/fields/text/problem/slug") == "clock-ahead")
    }

    @Test func anExpiredTokenEndsAStream() async throws {
        let server = MemoryServer()
        let phone = try await device(of: server)
        let token = try #require(try await phone.sync()["syncToken"]?.string)
        server.restore(server.backUp())
        var events = phone.transport.events(ServerRequest("GET", "/v1/events?since=\(token)", token: phone.token))
            .makeAsyncIterator()
        #expect(try await events.next()?.name == "expired")
        #expect(try await events.next() == nil)
    }

    @Test func theSameScheduleDrawsTheSameFaults() {
        var schedules = (0..<2).map { _ in
            FaultSchedule(seed: 7, [(.requestLost, 0.3), (.slow(milliseconds: 5), 0.3)])
        }
        let drawn = schedules.indices.map { index in (0..<100).map { _ in schedules[index].next() } }
        #expect(drawn[0] == drawn[1])
        #expect(drawn[0].contains([.requestLost]) && drawn[0].contains([]))
    }
}

/// Simulated lives: `make test` runs 500 with the program `simulate`.
@Suite struct SimulationTests {
    @Test(arguments: UInt64(1)...5)
    func livesEndWithEqualCopies(seed: UInt64) throws {
        #expect(try Life(seed: seed).run() == [])
    }

    @Test func aSeedReplaysExactly() throws {
        let lives = try (0..<2).map { _ in try Life(seed: 7, isRecorded: true) }
        for life in lives { _ = try life.run() }
        #expect(lives[0].trace == lives[1].trace)
        #expect(lives[0].record == lives[1].record)
    }
}
