import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// `POST /v1/sync` and the feeds, on the server in memory and on the real one.
@Suite struct ServerContractSyncTests {
    @Test(arguments: ContractServer.available)
    func firstPushIsAppliedAndNotReturned(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let id = UniqueID.random()
        let response = try await phone.sync(["notes": [phone.note(id, "Milk\nBread")]])
        #expect(
            response.names == ["results", "changes", "digest", "syncToken", "hasMore", "remaining", "serverClock"])
        let receipt: JSON = [
            "uniqueID": id.json, "objectType": "note", "pointer": "/changes/notes/0", "status": "applied",
        ]
        #expect(response["results"] == [receipt])
        #expect(
            response["changes"] == ["notes": [], "tags": [], "attachments": [], "objects": [], "deletedObjects": []])
        #expect(response["hasMore"] == false)
        #expect(response["remaining"] == ["objects": 0, "bytes": 0])
        let read = try await phone.sync()
        #expect(read["results"] == [])
        let body = try #require(read.at("changes/notes/0")).bytes
        let note = try body.withUnsafeBytes { try Entity.read($0, id: id, section: .notes) }
        #expect(read["digest"] == .string(note.digest.description))
        #expect(read["digest"] == response["digest"])
        #expect(body == note.body)
    }

    @Test(arguments: ContractServer.available)
    func aSecondDeviceReceivesAndMerges(_ server: ContractServer) async throws {
        var phone = try await server.device()
        var laptop = try await phone.another()
        let id = UniqueID.random()
        let created = phone.note(id, "Milk\nBread")
        let first = try await phone.sync(["notes": [created]])
        let base = try #require(created.at("clocks/text"))

        let read = try await laptop.sync()
        #expect(read.at("changes/notes/0/text") == "Milk\nBread")
        laptop.observe(base)
        let longer: JSON = [
            "uniqueID": id.json, "text": "Milk\nBread\nCoffee", "textBase": base, "textAfter": [],
            "clocks": ["text": laptop.clock()],
        ]
        let second = try await laptop.sync(["notes": [longer]], since: read["syncToken"])
        #expect(second.at("results/0/status") == "applied")

        let edited: JSON = [
            "uniqueID": id.json, "text": "Oat milk\nBread", "textBase": base, "textAfter": [],
            "clocks": ["text": phone.clock()],
        ]
        let merged = try await phone.sync(["notes": [edited]], since: first["syncToken"])
        #expect(merged.at("results/0/status") == "merged")
        #expect(merged.at("results/0/fields/text/outcome") == "merged")
        #expect(merged.at("changes/notes/0/text") == "Oat milk\nBread\nCoffee")
        #expect(merged.at("changes/notes/0/clocks/text") == merged.at("results/0/fields/text/clock"))

        // Repeating a push changes nothing.
        let again = try await phone.sync(["notes": [edited]], since: merged["syncToken"])
        #expect(again["digest"] == merged["digest"])
        #expect(again["syncToken"] == merged["syncToken"])
        let unchanged = try await phone.sync(["notes": [created]], since: merged["syncToken"])
        #expect(unchanged.at("results/0/status") == "merged")
    }

    @Test(arguments: ContractServer.available)
    func contestedWordsAreListed(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let id = UniqueID.random()
        let created = phone.note(id, "A red car")
        let first = try await phone.sync(["notes": [created]])
        let base = try #require(created.at("clocks/text"))
        func edit(_ text: JSON) -> JSON {
            ["uniqueID": id.json, "text": text, "textBase": base, "textAfter": [], "clocks": ["text": phone.clock()]]
        }
        let (blue, green) = (edit("A blue car"), edit("A green car"))
        _ = try await phone.sync(["notes": [green]], since: first["syncToken"])
        let late = try await phone.sync(["notes": [blue]], since: first["syncToken"])
        #expect(late.at("changes/notes/0/text") == "A green car")
        #expect(
            late.at("results/0/fields/text/superseded") == [["text": "blue", "location": 2, "length": 5]])
    }

    @Test(arguments: ContractServer.available)
    func pagesOfAFirstSyncHaveTagsFirstAndTheNewestFirst(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let tags = (0..<3).map { _ in UniqueID.random() }
        let notes = (0..<9).map { _ in UniqueID.random() }
        for (index, id) in notes.enumerated() { _ = try await phone.sync(["notes": [phone.note(id, "\(index)")]]) }
        for (index, id) in tags.enumerated() { _ = try await phone.sync(["tags": [phone.tag(id, "tag \(index)")]]) }

        var page = try await phone.sync(limit: 5)
        #expect(page.at("changes/tags")?.elements.compactMap { $0["uniqueID"]?.id } == tags.reversed())
        #expect(page["hasMore"] == true)
        #expect(page["digest"] == nil)
        #expect(page.at("remaining/objects") == 7)
        // A change meanwhile comes at the end.
        let edited = UniqueID.random()
        _ = try await phone.sync(["notes": [phone.note(edited, "new")]])
        var received = page.at("changes/notes")?.elements.compactMap { $0["uniqueID"]?.id } ?? []
        var pages = 1
        while page["hasMore"] == true, pages < 10 {
            page = try await phone.sync(since: page["syncToken"], limit: 5)
            received += page.at("changes/notes")?.elements.compactMap { $0["uniqueID"]?.id } ?? []
            pages += 1
        }
        #expect(received == notes.reversed() + [edited])
        #expect(pages == 3)
        #expect(page.at("remaining/objects") == 0)
        #expect(page["digest"] != nil)
        let end = try await phone.get("/v1/changes?since=\(page["syncToken"]?.string ?? "")")
        #expect(end.names == ["changes", "digest", "syncToken", "hasMore", "remaining", "serverClock"])
        #expect(end["syncToken"] == page["syncToken"])
    }

    @Test(arguments: ContractServer.available)
    func deletedNotesRescueUnseenWords(_ server: ContractServer) async throws {
        var phone = try await server.device()
        var laptop = try await phone.another()
        let id = UniqueID.random()
        let created = phone.note(id, "Milk")
        let first = try await phone.sync(["notes": [created]])
        let base = try #require(created.at("clocks/text"))
        laptop.observe(base)
        let longer: JSON = [
            "uniqueID": id.json, "text": "Milk\nBread", "textBase": base, "textAfter": [],
            "clocks": ["text": laptop.clock()],
        ]
        _ = try await laptop.sync(["notes": [longer]])
        let deletion: JSON = ["uniqueID": id.json, "objectType": "note", "textSeen": base, "textAfter": []]
        let rescued = try await phone.sync(["deletedObjects": [deletion]], since: first["syncToken"])
        #expect(rescued.at("results/0/status") == "rescued")
        #expect(rescued.at("results/0/rescuedInto") == id.rescue.json)
        #expect(rescued.at("changes/notes/0/text") == "Milk\nBread")
        #expect(rescued.at("changes/deletedObjects/0/rescuedInto") == id.rescue.json)
        let late = try await laptop.sync(["notes": [longer]])
        #expect(late.at("results/0/status") == "deleted")
        #expect(late.at("results/0/fields/text/outcome") == "deleted")
    }

    /// A text that was pushed to a note after the note was deleted is not part of the rescued note, even if the DeletedObject has
    /// changed since.
    @Test(arguments: ContractServer.available)
    func wordsForADeletedNoteAreMergedIntoTheRescuedNote(_ server: ContractServer) async throws {
        var phone = try await server.device()
        var laptop = try await phone.another()
        var tablet = try await phone.another()
        let id = UniqueID.random()
        let created = phone.note(id, "Milk")
        _ = try await phone.sync(["notes": [created]])
        let base = try #require(created.at("clocks/text"))
        laptop.observe(base)
        tablet.observe(base)
        let longer: JSON = [
            "uniqueID": id.json, "text": "Milk\nBread", "textBase": base, "textAfter": [],
            "clocks": ["text": laptop.clock()],
        ]
        _ = try await laptop.sync(["notes": [longer]])
        let deletion: JSON = ["uniqueID": id.json, "objectType": "note", "textSeen": base]
        let rescued = try await phone.sync(["deletedObjects": [deletion]])
        #expect(rescued.at("results/0/status") == "rescued")
        let clock = tablet.clock()
        let late: JSON = [
            "uniqueID": id.json, "text": "Eggs\nMilk", "textBase": base, "textAfter": [], "clocks": ["text": clock],
        ]
        #expect(try await tablet.sync(["notes": [late]]).at("results/0/status") == "deleted")
        let earlier: JSON = [
            "uniqueID": id.json, "objectType": "note", "textSeen": base, "deletionDate": "2020-01-01T00:00:00.000Z",
        ]
        #expect(try await laptop.sync(["deletedObjects": [earlier]]).at("results/0/status") == "applied")
        let moved: JSON = [
            "uniqueID": id.rescue.json, "text": "Eggs\nMilk", "textBase": base, "textBaseValue": "Milk",
            "textAfter": [clock], "clocks": ["text": tablet.clock()],
        ]
        let merged = try await tablet.sync(["notes": [moved]])
        #expect(merged.at("results/0/status") == "merged")
        #expect(merged.at("changes/notes/0/text") == "Eggs\nMilk\nBread")
    }

    @Test(arguments: ContractServer.available)
    func tagsOfOneNameAreMerged(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let ids = [UniqueID.random(), .random()].sorted()
        _ = try await phone.sync(["tags": [phone.tag(ids[0], "Paris")]])
        let second = try await phone.sync(["tags": [phone.tag(ids[1], "paris ")]])
        #expect(second.at("results/0/status") == "deleted")
        #expect(second.at("changes/deletedObjects/0/mergedInto") == ids[0].json)
        #expect(second.at("changes/deletedObjects/0/objectType") == "tag")
    }

    @Test(arguments: ContractServer.available)
    func fieldsAreRejectedOneByOne(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let id = UniqueID.random()
        let created = phone.note(id, "Milk")
        let ahead: JSON = [
            "uniqueID": UniqueID.random().json, "objectType": "recipe",
            "attributes": ["title": "Soup", "count": 4],
            "clocks": [
                "attributes": ["title": phone.clock(off: 3_600_000 * 24), "count": "no clock"]
            ],
        ]
        let response = try await phone.sync(["notes": [created], "objects": [ahead]])
        #expect(response.at("results/0/status") == "applied")
        #expect(response.at("results/1/status") == "rejected")
        #expect(response.at("results/1/fields/attributes.title/outcome") == "rejected")
        #expect(response.at("results/1/fields/attributes.title/problem/slug") == "clock-ahead")
        #expect(response.at("results/1/fields/attributes.title/problem/serverClock")?.clock != nil)
        #expect(response.at("results/1/fields/attributes.count/problem/slug") == "invalid-field")
        #expect(response.at("changes/objects/0/objectType") == "recipe")

        let reused: JSON = [
            "uniqueID": id.json, "text": "Bread", "textAfter": [], "clocks": ["text": created.at("clocks/text") ?? nil],
        ]
        let copy = try await phone.sync(["notes": [reused]])
        #expect(copy.at("results/0/fields/text/problem/slug") == "clock-reused")
        let missing = try await phone.sync(["notes": [["uniqueID": "no ID"]]])
        #expect(missing.at("results/0/problem/pointer") == "/changes/notes/0/uniqueID")
    }

    @Test(arguments: ContractServer.available)
    func requestsAreRefusedAsAWhole(_ server: ContractServer) async throws {
        let phone = try await server.device()
        let type = ["content-type": "application/json"]
        try expectProblem(
            try await phone.send("POST", "/v1/sync", headers: type, body: Array("{".utf8)), .malformedRequest)
        try expectProblem(
            try await phone.send("POST", "/v1/sync", headers: ["content-type": "text/plain"], body: Array("{}".utf8)),
            .unsupportedMediaType)
        try expectProblem(
            try await phone.send("POST", "/v1/sync", ["sync": true]), .unknownField, at: "/sync")
        try expectProblem(
            try await phone.send("POST", "/v1/sync", ["syncToken": "no token"]), .invalidField, at: "/syncToken")
        try expectProblem(try await phone.send("POST", "/v1/sync", ["limit": 0]), .invalidField, at: "/limit")
        try expectProblem(
            try await phone.send("POST", "/v1/sync", ["changes": ["note": []]]), .unknownField, at: "/changes/note")
        let many = JSON.array(Array(repeating: [:], count: Limits.pushObjects + 1))
        try expectProblem(try await phone.send("POST", "/v1/sync", ["changes": ["notes": many]]), .tooLarge)
        let method = try await phone.send("PUT", "/v1/sync", [:])
        try expectProblem(method, .methodNotAllowed)
        #expect(method.headers["allow"]?.contains("POST") == true)
        try expectProblem(try await phone.send("GET", "/v1/nothing"), .notFound)
    }

    @Test(arguments: ContractServer.available)
    func digestsLeadToAnObject(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let ids = [UniqueID.random(), .random()].sorted()
        let pushed = try await phone.sync([
            "notes": [phone.note(ids[0], "Milk")],
            "deletedObjects": [["uniqueID": ids[1].json, "objectType": "recipe"]],
        ])
        let all = try await phone.get("/v1/digests")
        #expect(all["prefix"] == "")
        #expect(all["digest"] == pushed["digest"])
        #expect(all["objects"] == 2)
        #expect(all["items"]?.elements.map { $0["uniqueID"]?.id } == ids)
        let prefix = String(ids[0].description.prefix(8))
        let some = try await phone.get("/v1/digests?prefix=\(prefix)")
        #expect(some["digest"] == some.at("items/0/digest"))
        #expect(some.at("children/0/prefix")?.string?.count == 9)
    }
}
