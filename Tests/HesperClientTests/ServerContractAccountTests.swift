import Foundation
import HesperClient
import HesperModel
import Testing

/// Accounts, devices, attachments and events, on the server in memory and on the real one.
@Suite struct ServerContractAccountTests {
    @Test(arguments: ContractServer.available)
    func serversDescribeThemselves(_ server: ContractServer) async throws {
        let response = try await server.transport().send(ServerRequest("GET", "/v1/server"))
        let json = try JSONReader.read(response.body)
        #expect(response.status == 200)
        #expect(json["name"] == "Hesper")
        #expect(json["signUp"] == "open")
        #expect(json["serverClock"]?.clock != nil)
        let features = json["features"]?.elements.compactMap(\.string) ?? []
        #expect(Set(features).isSuperset(of: ["sync", "uploads", "events", "text-descent", "revocations"]))
        #expect(Set(features).isSuperset(of: ["object-texts", "object-files"]))
        #expect(json.at("limits/pushObjects") == .integer(Int64(Limits.pushObjects)))
        #expect(json.at("limits/textAfter") == .integer(Int64(Limits.textAfter)))
    }

    @Test(arguments: ContractServer.available)
    func devicesSignInAndOut(_ server: ContractServer) async throws {
        let phone = try await server.device()
        let laptop = try await phone.another()
        #expect(laptop.node != phone.node && laptop.token != phone.token)
        let account = try await phone.get("/v1/account")
        #expect(account["email"] == .string(phone.email))
        #expect(account.at("usage/objects") == 0)
        let devices = try await phone.get("/v1/devices")["devices"]?.elements ?? []
        #expect(
            Set(devices.compactMap { $0["uniqueID"]?.string }) == [phone.node.description, laptop.node.description])
        #expect(devices.first { $0["current"] == true }?["uniqueID"] == .string(phone.node.description))
        let renamed = try await phone.send("PATCH", "/v1/devices/\(laptop.node)", ["name": "desk"])
        #expect(try JSONReader.read(renamed.body)["name"] == "desk")

        #expect(try await phone.send("DELETE", "/v1/devices/\(laptop.node)").status == 204)
        let refused = try await laptop.send("POST", "/v1/sync", [:])
        try expectProblem(refused, .unauthenticated)
        #expect(refused.headers["www-authenticate"] == "Bearer")
        try expectProblem(try await phone.send("DELETE", "/v1/devices/\(laptop.node)"), .notFound)
    }

    @Test(arguments: ContractServer.available)
    func credentialsAreChecked(_ server: ContractServer) async throws {
        let phone = try await server.device()
        func post(_ path: String, _ password: String, _ email: String? = nil) async throws -> ServerResponse {
            let body: JSON = [
                "email": .string(email ?? phone.email), "password": .string(password), "deviceName": "phone",
            ]
            return try await phone.transport.send(
                ServerRequest("POST", path, headers: ["content-type": "application/json"], body: body.bytes))
        }
        try expectProblem(try await post("/v1/devices", "wrong password"), .unauthenticated)
        try expectProblem(
            try await post("/v1/accounts", "correct horse", phone.email.uppercased()), .emailTaken, at: "/email")
        try expectProblem(try await post("/v1/accounts", "short", "a@example.org"), .invalidField, at: "/password")
        try expectProblem(try await post("/v1/accounts", "correct horse", "nobody"), .invalidField, at: "/email")
        let anonymous = try await phone.transport.send(ServerRequest("GET", "/v1/account"))
        try expectProblem(anonymous, .unauthenticated)
    }

    @Test(arguments: ContractServer.available)
    func revokedDevicesAreUndone(_ server: ContractServer) async throws {
        var phone = try await server.device()
        var thief = try await phone.another()
        let (id, other) = (UniqueID.random(), UniqueID.random())
        let created = phone.note(id, "Milk")
        _ = try await phone.sync(["notes": [created]])
        let moment = try #require(try await phone.sync()["serverClock"]?.clock).timestamp
        thief.observe(created.at("clocks/text"))
        // The moment is compared with the time at which a push arrives, in milliseconds.
        while Timestamp(clamping: Int64(Date().timeIntervalSince1970 * 1_000)) <= moment { await Task.yield() }
        let vandalism: JSON = [
            "uniqueID": id.json, "text": "", "textBase": created.at("clocks/text") ?? nil, "textAfter": [],
            "clocks": ["text": thief.clock()],
        ]
        _ = try await thief.sync(["notes": [vandalism, thief.note(other, "Spam")]])
        let path = "/v1/devices/\(thief.node)/revocation"
        let begun = try await phone.send("POST", path, ["moment": .string(moment.description)])
        #expect(begun.status == 201)
        try expectProblem(try await thief.send("POST", "/v1/sync", [:]), .unauthenticated)
        let deadline = ContinuousClock.now + .seconds(600)
        var revocation = try await phone.get(path)
        while revocation["finishDate"] == nil, ContinuousClock.now < deadline { revocation = try await phone.get(path) }
        #expect(revocation.at("objects/putBack") == 1)
        #expect(revocation.at("objects/deleted") == 1)
        let read = try await phone.sync()
        #expect(read.at("changes/notes")?.elements.map { $0["text"] } == ["Milk"])
        #expect(read.at("changes/deletedObjects/0/uniqueID") == other.json)
        let relayed = try await phone.sync(["notes": [thief.note(id, "Again")]])
        #expect(relayed.at("results/0/fields/text/problem/slug") == "device-revoked")
    }

    // MARK: Attachments

    @Test(arguments: ContractServer.available)
    func attachmentsNeedTheirBytes(_ server: ContractServer) async throws {
        let phone = try await server.device()
        let id = UniqueID.random()
        let path = "/v1/attachments/\(id)/data"
        let push: JSON = ["attachments": [["uniqueID": id.json, "mimeType": "image/png"]]]
        let early = try await phone.sync(push)
        #expect(early.at("results/0/problem/slug") == "attachment-data-missing")
        #expect(try await phone.send("HEAD", path).status == 404)
        try expectProblem(
            try await phone.upload(
                Array("0123456789".utf8), as: id,
                headers: ["repr-digest": "sha-256=:\(String(repeating: "A", count: 43))=:"]),
            .invalidField)

        let uploaded = try await phone.upload(Array("0123456789".utf8), as: id)
        #expect(uploaded.status == 201)
        let facts = try JSONReader.read(uploaded.body)
        #expect(facts.names == ["uniqueID", "byteCount", "sha256"])
        let sha256 = try #require(facts["sha256"])
        #expect(uploaded.headers["etag"] == "\"\(sha256.string ?? "")\"")
        #expect(try await phone.upload(Array("0123456789".utf8), as: id).status == 200)
        try expectProblem(try await phone.upload(Array("other".utf8), as: id), .immutable)

        // The server adds the size and hash, so the attachment comes back.
        let pushed = try await phone.sync(push)
        #expect(pushed.at("results/0/status") == "applied")
        #expect(pushed.at("changes/attachments/0/byteCount") == 10)
        #expect(pushed.at("changes/attachments/0/sha256") == sha256)
        #expect(try await phone.get("/v1/account").at("usage/attachmentBytes") == 10)

        let head = try await phone.send("HEAD", path)
        #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "10")
        let whole = try await phone.send("GET", path)
        #expect(String(decoding: whole.body, as: UTF8.self) == "0123456789")
        #expect(whole.headers["repr-digest"]?.hasPrefix("sha-256=:") == true)
        let part = try await phone.send("GET", path, headers: ["range": "bytes=2-4"])
        #expect(part.status == 206 && String(decoding: part.body, as: UTF8.self) == "234")
        #expect(part.headers["content-range"] == "bytes 2-4/10")
        let end = try await phone.send("GET", path, headers: ["range": "bytes=8-"])
        #expect(end.headers["content-range"] == "bytes 8-9/10")
        let beyond = try await phone.send("GET", path, headers: ["range": "bytes=10-"])
        try expectProblem(beyond, .rangeNotSatisfiable)
        #expect(beyond.headers["content-range"] == "bytes */10")
        let cached = try await phone.send("GET", path, headers: ["if-none-match": uploaded.headers["etag"] ?? ""])
        #expect(cached.status == 304)
    }

    @Test(arguments: ContractServer.available)
    func anAttachmentBelongsToOneNote(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let (picture, notes) = (UniqueID.random(), [UniqueID.random(), .random()])
        _ = try await phone.upload([1, 2, 3], as: picture)
        func holding(_ id: UniqueID) -> JSON {
            [
                "uniqueID": id.json, "creationDate": "2026-01-01T00:00:00.000Z", "attachments": [picture.json],
                "clocks": ["attachments": .object(JSONObject([(picture.description, phone.clock())]))],
            ]
        }
        let first = try await phone.sync([
            "attachments": [["uniqueID": picture.json, "mimeType": "image/png"]], "notes": [holding(notes[0])],
        ])
        #expect(first["results"]?.elements.map { $0["status"] } == ["applied", "applied"])
        let second = try await phone.sync(["notes": [holding(notes[1])]])
        #expect(
            second.at("results/0/fields/attachments.\(picture)/problem/slug") == "attachment-in-use")
    }

    @Test(arguments: ContractServer.available)
    func uploadsAreResumed(_ server: ContractServer) async throws {
        let phone = try await server.device()
        let id = UniqueID.random()
        let begun = try await phone.upload([], as: id, headers: ["upload-complete": "?0", "upload-length": "6"])
        #expect(begun.status == 201)
        #expect(begun.headers["upload-offset"] == "0" && begun.headers["upload-complete"] == "?0")
        let upload = try #require(begun.headers["location"])
        func part(_ text: String, at offset: Int, isLast: Bool) async throws -> ServerResponse {
            let headers = [
                "content-type": "application/partial-upload", "upload-offset": "\(offset)",
                "upload-complete": isLast ? "?1" : "?0",
            ]
            return try await phone.send("PATCH", upload, headers: headers, body: Array(text.utf8))
        }
        let first = try await part("abc", at: 0, isLast: false)
        #expect(first.status == 204 && first.headers["upload-offset"] == "3")
        let head = try await phone.send("HEAD", upload)
        #expect(head.status == 204 && head.headers["upload-offset"] == "3" && head.headers["upload-length"] == "6")
        let wrong = try await part("abc", at: 0, isLast: false)
        try expectProblem(wrong, .uploadOffset)
        #expect(wrong.headers["upload-offset"] == "3")
        let last = try await part("def", at: 3, isLast: true)
        #expect(last.status == 201 && last.headers["upload-complete"] == "?1")
        #expect(try JSONReader.read(last.body)["byteCount"] == 6)
        let done = try await phone.send("HEAD", upload)
        #expect(done.headers["upload-complete"] == "?1" && done.headers["upload-offset"] == "6")
        let data = try await phone.send("GET", "/v1/attachments/\(id)/data")
        #expect(String(decoding: data.body, as: UTF8.self) == "abcdef")
        try expectProblem(try await phone.send("DELETE", "/v1/uploads/\(UniqueID.random())"), .notFound)
    }

    // MARK: Events

    @Test(arguments: ContractServer.available)
    func streamsReceiveChanges(_ server: ContractServer) async throws {
        let phone = try await server.device()
        var laptop = try await phone.another()
        let since = try #require(try await phone.sync()["syncToken"]?.string)
        var events = phone.transport.events(ServerRequest("GET", "/v1/events?since=\(since)", token: phone.token))
            .makeAsyncIterator()
        let listeners = try #require(try await events.next())
        #expect(listeners.name == "listeners")
        #expect(try JSONReader.read(listeners.data) == ["listeners": 0])
        let id = UniqueID.random()
        let pushed = try await laptop.sync(["notes": [laptop.note(id, "Milk")]])
        let changes = try #require(try await events.next())
        #expect(changes.name == "changes")
        let page = try JSONReader.read(changes.data)
        #expect(page.names == ["changes", "digest", "syncToken", "hasMore", "remaining", "serverClock"])
        #expect(page.at("changes/notes/0/uniqueID") == id.json)
        #expect(page["digest"] == pushed["digest"])

        let others = laptop.transport.events(ServerRequest("GET", "/v1/events", token: laptop.token))
        var own = others.makeAsyncIterator()
        let start = try #require(try await own.next())
        #expect(try JSONReader.read(start.data)["syncToken"] == page["syncToken"])
        let joined = try #require(try await events.next())
        #expect(try JSONReader.read(joined.data) == ["listeners": 1])
        // A device that is signed out loses its stream.
        _ = try await laptop.send("DELETE", "/v1/devices/\(phone.node)")
        while try await events.next() != nil {}
    }

    @Test(arguments: ContractServer.available)
    func streamsAreRefused(_ server: ContractServer) async throws {
        let phone = try await server.device()
        for token in [nil, "no token"] {
            let events = phone.transport.events(ServerRequest("GET", "/v1/events", token: token))
            let refused = await #expect(throws: StreamRefused.self) { for try await _ in events {} }
            #expect(refused?.response.status == 401)
        }
        let events = phone.transport.events(ServerRequest("GET", "/v1/events?since=x", token: phone.token))
        let refused = await #expect(throws: StreamRefused.self) { for try await _ in events {} }
        #expect(refused?.response.status == 422)
    }
}
