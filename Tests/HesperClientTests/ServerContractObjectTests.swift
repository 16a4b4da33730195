import HesperClient
import HesperModel
import Testing

/// Texts and files of objects of apps, and the history of objects, on the server in memory and on the real one.
@Suite struct ServerContractObjectTests {
    /// A recipe with a text `method`, as a push contains it.
    private func recipe(_ id: UniqueID, _ method: String, base: JSON? = nil, _ clock: JSON) -> JSON {
        JSON(members: [
            ("uniqueID", id.json), ("objectType", "recipe"), ("texts", ["method": .string(method)]),
            ("textBases", base.map { ["method": $0] }), ("textsAfter", ["method": []]),
            ("clocks", ["texts": ["method": clock]]),
        ])
    }

    private func photo(_ picture: UniqueID?, of id: UniqueID, _ clock: JSON) -> JSON {
        [
            "uniqueID": id.json, "objectType": "recipe", "files": ["photo": picture?.json ?? .null],
            "clocks": ["files": ["photo": clock]],
        ]
    }

    @Test(arguments: ContractServer.available)
    func textsOfObjectsAreMerged(_ server: ContractServer) async throws {
        var phone = try await server.device()
        var laptop = try await phone.another()
        let id = UniqueID.random()
        let base = phone.clock()
        let first = try await phone.sync(["objects": [recipe(id, "Boil.\nServe.", base)]])
        #expect(first.at("results/0/status") == "applied")
        laptop.observe(base)
        let other = try await laptop.sync(["objects": [recipe(id, "Boil.\nServe.\nEat.", base: base, laptop.clock())]])
        #expect(other.at("results/0/status") == "applied")
        let merged = try await phone.sync(
            ["objects": [recipe(id, "Wash.\nBoil.\nServe.", base: base, phone.clock())]], since: first["syncToken"])
        #expect(merged.at("results/0/status") == "merged")
        #expect(merged.at("results/0/fields/texts.method/outcome") == "merged")
        #expect(merged.at("changes/objects/0/texts/method") == "Wash.\nBoil.\nServe.\nEat.")
        let body = try #require(merged.at("changes/objects/0")).bytes
        let object = try body.withUnsafeBytes { try Entity.read($0, id: id, section: .objects) }
        #expect(object.body == body)
        #expect(merged["digest"] == .string(object.digest.description))
    }

    @Test(arguments: ContractServer.available)
    func objectsHaveAHistory(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let id = UniqueID.random()
        let clocks = [phone.clock(), phone.clock()]
        _ = try await phone.sync(["objects": [recipe(id, "Boil.", clocks[0])]])
        _ = try await phone.sync(["objects": [recipe(id, "Boil.\nServe.", base: clocks[0], clocks[1])]])
        func check(_ history: JSON) {
            let edits = history["edits"]?.elements ?? []
            #expect(edits.map { $0["attribute"] } == ["texts.method", "texts.method"])
            #expect(edits.map { $0["value"] } == ["Boil.\nServe.", "Boil."])
            #expect(edits.map { $0["clock"] } == clocks.reversed())
            #expect(edits.map { $0["standing"] } == [true, false])
            #expect(edits.first?["device"] == ["uniqueID": .string(phone.node.description), "name": "phone"])
            #expect(edits.first?["pushedAt"]?.string != nil)
        }
        check(try await phone.get("/v1/objects/\(id)/edits"))
        try expectProblem(try await phone.send("GET", "/v1/notes/\(id)/edits"), .notFound)
        try expectProblem(try await phone.send("GET", "/v1/objects/\(UniqueID.random())/edits"), .notFound)
        // The history of a deleted object can be read until the edits are removed.
        _ = try await phone.sync(["deletedObjects": [["uniqueID": id.json, "objectType": "recipe"]]])
        check(try await phone.get("/v1/objects/\(id)/edits"))
    }

    @Test(arguments: ContractServer.available)
    func deletedObjectsRescueUnseenWords(_ server: ContractServer) async throws {
        var phone = try await server.device()
        var laptop = try await phone.another()
        let id = UniqueID.random()
        let base = phone.clock()
        let first = try await phone.sync(["objects": [recipe(id, "Boil.", base)]])
        laptop.observe(base)
        _ = try await laptop.sync(["objects": [recipe(id, "Boil.\nServe.", base: base, laptop.clock())]])
        let deletion: JSON = [
            "uniqueID": id.json, "objectType": "recipe", "textsSeen": ["method": base], "textsAfter": ["method": []],
        ]
        let rescued = try await phone.sync(["deletedObjects": [deletion]], since: first["syncToken"])
        #expect(rescued.at("results/0/status") == "rescued")
        #expect(rescued.at("results/0/rescuedInto") == id.rescue.json)
        #expect(rescued.at("changes/objects/0/objectType") == "recipe")
        #expect(rescued.at("changes/objects/0/texts/method") == "Boil.\nServe.")
        let late = try await laptop.sync(["objects": [recipe(id, "Eat.", base: base, laptop.clock())]])
        #expect(late.at("results/0/status") == "deleted")
        #expect(late.at("results/0/fields/texts.method/outcome") == "deleted")
    }

    @Test(arguments: ContractServer.available)
    func anAttachmentBelongsToOneObject(_ server: ContractServer) async throws {
        var phone = try await server.device()
        let (picture, recipes) = (UniqueID.random(), [UniqueID.random(), .random()])
        _ = try await phone.upload([1, 2, 3], as: picture)
        let first = try await phone.sync([
            "attachments": [["uniqueID": picture.json, "mimeType": "image/png"]],
            "objects": [photo(picture, of: recipes[0], phone.clock())],
        ])
        #expect(first["results"]?.elements.map { $0["status"] } == ["applied", "applied"])
        let second = try await phone.sync(["objects": [photo(picture, of: recipes[1], phone.clock())]])
        #expect(second.at("results/0/fields/files.photo/problem/slug") == "attachment-in-use")
        // Both halves of a move are in one push.
        let moved = try await phone.sync([
            "objects": [photo(picture, of: recipes[1], phone.clock()), photo(nil, of: recipes[0], phone.clock())]
        ])
        #expect(moved["results"]?.elements.map { $0["status"] } == ["applied", "applied"])
        let note: JSON = [
            "uniqueID": UniqueID.random().json, "creationDate": "2026-01-01T00:00:00.000Z",
            "attachments": [picture.json],
            "clocks": ["attachments": .object(JSONObject([(picture.description, phone.clock())]))],
        ]
        let third = try await phone.sync(["notes": [note]])
        #expect(third.at("results/0/fields/attachments.\(picture)/problem/slug") == "attachment-in-use")
        let absent = try await phone.sync(["objects": [photo(.random(), of: recipes[0], phone.clock())]])
        #expect(absent.at("results/0/status") == "applied")
    }
}
