import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// Texts and files of app objects, on two devices and a server in memory. The rules are those of notes.
struct SyncObjectTextsTests {
    let world = SyncWorld()

    @Test func textsOfBothDevicesAreMerged() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["texts.method": "Boil.\nServe.", "texts.tips": "Salt"])
        try world.settle()
        try one.write("Boil gently.\nServe.", in: id, "texts.method")
        try other.write("Boil.\nServe hot.", in: id, "texts.method")
        try other.write("Salt, pepper", in: id, "texts.tips")
        try world.settle()
        for device in [one, other] {
            #expect(try device.text(id, "texts.method") == "Boil gently.\nServe hot.")
            #expect(try device.text(id, "texts.tips") == "Salt, pepper")
        }
    }

    @Test func replacedWordsAreReported() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["texts.method": "The red soup."])
        try world.settle()
        try one.write("The blue soup.", in: id, "texts.method")
        world.clock.advance(by: 1)
        try other.write("The green soup.", in: id, "texts.method")
        try other.sync()
        try world.settle()
        #expect(try one.text(id, "texts.method") == "The green soup.")
        let notice = try #require(try one.database.read { try $0.notices() }.first)
        #expect(notice.kind == .merged && notice.id == id && notice.type == "dish" && notice.texts == ["blue"])
        #expect(notice.attribute == "texts.method")
    }

    @Test func aTextTypedOnWhileItIsSentKeepsItsDescent() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["texts.method": "a\n"])
        try world.settle()
        try other.write("a\nother\n", in: id, "texts.method")
        try other.sync()
        try one.write("a\none\n", in: id, "texts.method")
        one.loseResponses()
        try one.sync()
        try one.write("a\none more\n", in: id, "texts.method")
        one.intercept = { .success($1()) }
        try world.settle()
        let text = try #require(try one.text(id, "texts.method"))
        #expect(text.contains("one more") && text.contains("other"))
        #expect(text.components(separatedBy: "one").count == 2, "\(text)")
        #expect(try other.text(id, "texts.method") == text)
    }

    /// With 16 unanswered texts, the last of them is sent again.
    @Test func textAfterIsNeverFullerThanItsLimit() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["texts.method": "0"])
        try world.settle()
        one.loseResponses()
        for number in 1...Limits.textAfter + 3 {
            try one.write("\(number)", in: id, "texts.method")
            try one.sync()
            world.clock.advance(by: 120)
        }
        one.intercept = { .success($1()) }
        try world.settle()
        #expect(try other.text(id, "texts.method") == "\(Limits.textAfter + 3)")
        #expect(try one.database.read { try $0.shelf().isEmpty })
    }

    // MARK: Deleting

    @Test func textsThatADeletionHadNotSeenAreRescued() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["attributes.title": "Soup", "texts.method": "Boil.", "texts.tips": "Salt"])
        try world.settle()
        try other.write("Boil. Serve.", in: id, "texts.method")
        try other.sync()
        try one.delete(id)
        try world.settle()
        for device in [one, other] {
            let left = try device.objects("dish")
            #expect(left.map(\.id) == [id.rescue])
            #expect(left.first?.visible.mapValues(\.value) == ["texts.method": .string("Boil. Serve.")])
        }
        #expect(try one.database.read { try $0.notices() }.map(\.kind) == [.unseen])
        #expect(try one.database.read { try $0.notices() }.first?.type == "dish")
    }

    /// A device that deletes an object without texts has not seen those that another device just added.
    @Test func aTextThatWasAddedMeanwhileIsRescued() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["attributes.title": "Soup"])
        try world.settle()
        try other.write("Boil.", in: id, "texts.method")
        try other.sync()
        try one.delete(id)
        try world.settle()
        #expect(try one.text(id.rescue, "texts.method") == "Boil.")
    }

    @Test func whatWasSeenIsDeleted() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["texts.method": "Boil."])
        try world.settle()
        try one.write("Boil. Serve.", in: id, "texts.method")
        try one.delete(id)
        try world.settle()
        for device in [one, other] { #expect(try device.objects("dish").isEmpty) }
    }

    @Test func unsentTextsOfADeletedObjectBecomeANewOne() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish([
            "attributes.title": "Soup", "texts.method": "Boil.", "texts.tips": "Salt", "texts.story": "Once",
        ])
        try world.settle()
        try other.delete(id)
        try other.sync()
        try one.write("Boil. Serve.", in: id, "texts.method")
        try one.write("Salt, pepper", in: id, "texts.tips")
        try world.settle()
        let new = UniqueID.derived(from: "Boil. Serve.\nSalt, pepper", in: id)
        for device in [one, other] {
            let left = try device.objects("dish")
            #expect(left.map(\.id) == [new])
            #expect(
                left.first?.visible.mapValues(\.value) == [
                    "texts.method": .string("Boil. Serve."), "texts.tips": .string("Salt, pepper"),
                ])
        }
        let notice = try #require(try one.database.read { try $0.notices() }.first)
        #expect(notice.kind == .rescued && notice.into == new && notice.texts == ["Boil. Serve.", "Salt, pepper"])
    }

    /// The server has rescued the method, which the deleting device had not seen. The unsent texts are merged into the new object.
    @Test func unsentTextsJoinTheRescuedObject() throws {
        let (one, other, third) = (try world.device(), try world.device(), try world.device())
        let id = try one.makeDish(["texts.method": "Boil.\nServe.", "texts.tips": "Salt"])
        try world.settle()
        try other.write("Boil.\nServe hot.", in: id, "texts.method")
        try other.sync()
        try third.delete(id)
        try third.sync()
        try one.write("Boil gently.\nServe.", in: id, "texts.method")
        try one.write("Salt, pepper", in: id, "texts.tips")
        try world.settle()
        for device in [one, other, third] {
            #expect(try device.objects("dish").map(\.id) == [id.rescue])
            #expect(try device.text(id.rescue, "texts.method") == "Boil gently.\nServe hot.")
            #expect(try device.text(id.rescue, "texts.tips") == "Salt, pepper")
        }
    }

    // MARK: Files

    @Test func twoFilesForOnePlaceEndAsOne() throws {
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeDish(["attributes.title": "Soup"])
        try world.settle()
        let (first, second) = (UniqueID.random(), UniqueID.random())
        try one.edit(id, "files.photo", .string(first.description))
        world.clock.advance(by: 1)
        try other.edit(id, "files.photo", .string(second.description))
        try other.sync()
        try world.settle()
        for device in [one, other] {
            #expect(try device.database.read { try $0.object(id)?.value("files.photo") } == .string(second.description))
        }
    }

    @Test func aFileWaitsUntilItsBytesAreUploaded() throws {
        let one = try world.device()
        let photo = UniqueID.random()
        let id = try one.makeDish([
            "attributes.title": "Soup", "texts.method": "Boil.", "files.photo": photo.description,
        ])
        try one.database.write { transaction in
            var attachment = LocalObject(id: photo, type: TypeName.attachment)
            attachment.made = LocalObject.Made(fixed: [AttributeName.mimeType: .string("image/png")], needsBytes: true)
            _ = try transaction.insert(attachment, values: [])
        }
        try one.sync()
        let object = try #require(try one.database.read { try $0.object(id) })
        #expect(Array(object.edits.keys) == ["files.photo"] && object.isAcknowledged)
        #expect(object.registers["texts.method"]?.value == .string("Boil."))
    }

    /// The server rejects a file that another object has. The file is set again when that object lets go of it.
    @Test func aFileOfAnotherObjectIsRetried() throws {
        let (one, other) = (try world.device(), try world.device())
        let photo = try one.addAttachment()
        let value = Value.string(photo.description)
        let holder = try one.makeDish(["files.photo": photo.description])
        try world.settle()
        let taker = try other.makeDish(["attributes.title": "Stew", "files.scan": photo.description])
        let late = try other.makeDish(["attributes.title": "Late", "files.scan": photo.description])
        try world.settle()
        let shelf = try other.database.read { try $0.shelf() }
        #expect(shelf.map(\.slug) == ["attachment-in-use", "attachment-in-use"])
        #expect(Set(shelf.map(\.attribute)) == ["files.scan"])
        #expect(try other.database.read { try $0.object(taker)?.value("files.scan") } == nil)
        // The person has chosen something else for this one meanwhile.
        try other.edit(late, "files.scan", .null)
        try world.settle()
        try one.edit(holder, "files.photo", .null)
        try world.settle()
        for device in [one, other] {
            #expect(try device.database.read { try $0.object(taker)?.value("files.scan") } == value)
            #expect(try device.database.read { try $0.object(late)?.value("files.scan") } == .null)
        }
    }

    /// The object that had it is on the same device, or let go of it in a change that arrives together with others.
    @Test(arguments: [false, true]) func aFileThatBecomesFreeIsRetried(isOnOneDevice: Bool) throws {
        let (one, other) = (try world.device(), try world.device())
        let photo = try one.addAttachment()
        let holder = try one.makeDish(["attributes.title": "Soup"])
        try world.settle()
        try one.edit(holder, "files.photo", .string(photo.description))
        try one.sync()
        let device = isOnOneDevice ? one : other
        let taker = try device.makeDish(["files.scan": photo.description])
        if !isOnOneDevice {
            // The server rejects the file. The other device has not received that the first object has it.
            other.intercept = { request, respond in
                let response = respond()
                try? one.edit(holder, "files.photo", .null)
                try? one.sync()
                return .success(response)
            }
        }
        try device.sync()
        other.intercept = { .success($1()) }
        if isOnOneDevice { try one.edit(holder, "files.photo", .null) }
        try world.settle()
        for device in [one, other] {
            let file = try device.database.read { try $0.object(taker)?.value("files.scan") }
            #expect(file == .string(photo.description))
            #expect(try device.database.read { try $0.shelf().isEmpty })
        }
    }

    /// The attachment was deleted elsewhere while this device set it. Its bytes are uploaded again.
    @Test func aDeletedAttachmentThatAFileHoldsIsUploadedAgain() throws {
        let (one, other) = (try world.device(), try world.device())
        let photo = try one.addAttachment()
        let id = try one.makeDish(["attributes.title": "Soup"])
        try world.settle()
        try one.database.write { try $0.setBytes(of: photo, file: photo, byteCount: 3) }
        try one.edit(id, "files.photo", .string(photo.description))
        try other.delete(photo)
        try other.sync()
        try one.sync()
        let copy = UniqueID.derived(from: id.description, in: photo)
        let object = try #require(try one.database.read { try $0.object(id) })
        #expect(object.value("files.photo") == .string(copy.description))
        let attachment = try #require(try one.database.read { try $0.object(copy) })
        #expect(attachment.made?.needsBytes == true)
        #expect(try one.database.read { try $0.file(of: copy) } == photo)
    }

    // MARK: Servers

    @Test func aRestoredServerIsGivenBackTextsAndFiles() throws {
        let (one, other) = (try world.device(), try world.device())
        let old = try one.makeDish(["texts.method": "Boil.\nServe.", "texts.tips": "Salt"])
        try world.settle()
        let backup = world.server.backUp()
        let photo = try one.addAttachment()
        try one.write("Boil gently.\nServe.", in: old, "texts.method")
        try one.write("Salt, pepper", in: old, "texts.tips")
        try one.edit(old, "files.photo", .string(photo.description))
        let new = try one.makeDish(["texts.method": "Fry."])
        try world.settle()
        world.server.restore(backup)
        // Something that was never sent is based on a text that the server lacks.
        try other.write("Boil gently.\nServe hot.", in: old, "texts.method")
        world.clock.advance(by: 2 * 86_400)
        try world.settle()
        let fresh = try world.device()
        try world.settle()
        for device in [one, other, fresh] {
            #expect(try device.text(old, "texts.method") == "Boil gently.\nServe hot.")
            #expect(try device.text(old, "texts.tips") == "Salt, pepper")
            #expect(try device.text(new, "texts.method") == "Fry.")
            let file = try device.database.read { try $0.object(old)?.value("files.photo") }
            #expect(file == .string(photo.description))
        }
    }

    /// A push has at most 1 MiB of texts of an object, because JSON may need six bytes for each byte.
    @Test func largeTextsAreSentInSeveralPushes() throws {
        let (one, other) = (try world.device(), try world.device())
        let backup = world.server.backUp()
        let text = String(repeating: "leek\n", count: 60_000)
        var values = ["attributes.title": "Soup"]
        for name in 1...4 { values["texts.t\(name)"] = text + "\(name)" }
        let id = try one.makeDish(values)
        var sizes: [Int] = []
        one.intercept = { request, respond in
            sizes.append(request.body.count)
            return .success(respond())
        }
        try world.settle()
        #expect(sizes.count { $0 > 300_000 } == 2)
        #expect(sizes.allSatisfy { $0 < 3 * 420_000 })
        world.server.restore(backup)
        sizes = []
        try world.settle()
        #expect(sizes.count { $0 > 300_000 } == 2)
        #expect(sizes.allSatisfy { $0 < 3 * 420_000 })
        for name in 1...4 { #expect(try other.text(id, "texts.t\(name)") == text + "\(name)") }
    }

    @Test func aTextOverTheQuotaWaitsAndTheRestIsSent() throws {
        let one = try world.device()
        let id = try one.makeDish(["attributes.title": "Soup", "texts.method": "Boil."])
        try world.settle()
        world.server.setQuota(4_000)
        let photo = UniqueID.random().description
        try one.write(String(repeating: "Boil. ", count: 2_000), in: id, "texts.method")
        try one.edit(id, "files.photo", .string(photo))
        try one.edit(id, "attributes.servings", .integer(4))
        try one.sync()
        let object = try #require(try one.database.read { try $0.object(id) })
        #expect(Array(object.edits.keys) == ["texts.method"] && object.edits["texts.method"]?.isHeld == true)
        #expect(object.registers["files.photo"]?.value == .string(photo))
        world.server.setQuota(nil)
        world.clock.advance(by: 3_600)
        try world.settle()
        let other = try world.device()
        try world.settle()
        #expect(try other.text(id, "texts.method")?.utf8.count == 12_000)
    }

    @Test func fieldsThatTheServerLacksWait() throws {
        let (one, other) = (try world.device(), try world.device())
        var asked = 0
        world.server.lacksObjectTexts = true
        one.intercept = { request, respond in
            guard world.server.lacksObjectTexts else { return .success(respond()) }
            if request.path == "/v1/server" { asked += 1 }
            for name in ["\"texts", "\"files", "textsSeen"] {
                #expect(!String(decoding: request.body, as: UTF8.self).contains(name))
            }
            return .success(respond())
        }
        let id = try one.makeDish([
            "attributes.title": "Soup", "texts.method": "Boil.", "files.photo": UniqueID.random().description,
        ])
        let plain = try one.makeDish(["attributes.title": "Stew"])
        try one.sync()
        #expect(asked == 1)
        #expect(one.core.progress.missingFeatures == ["object-files", "object-texts"])
        #expect(try one.database.read { try $0.pendingCounts().toSend } == 1)
        try other.sync()
        #expect(try other.database.read { try $0.object(id)?.value("attributes.title") } == .string("Soup"))
        #expect(try other.text(id, "texts.method") == nil)
        // Deletions and other edits are sent.
        try one.delete(plain)
        try one.edit(id, "attributes.title", .string("Leek soup"))
        try one.sync()
        try other.sync()
        #expect(try other.database.read { try $0.deleted(plain) } != nil)
        #expect(try other.database.read { try $0.object(id)?.value("attributes.title") } == .string("Leek soup"))
        world.server.lacksObjectTexts = false
        try world.settle()
        #expect(one.core.progress.missingFeatures.isEmpty)
        #expect(try other.text(id, "texts.method") == "Boil.")
    }

    /// The server was updated while its earlier version responded.
    @Test func aSyncThatIsRequestedDuringARequestAsksForTheFeaturesAgain() throws {
        let one = try world.device()
        world.server.lacksObjectTexts = true
        one.intercept = { request, respond in
            let response = respond()
            guard request.path == "/v1/server", world.server.lacksObjectTexts else { return .success(response) }
            world.server.lacksObjectTexts = false
            #expect(throws: Never.self) { _ = try one.database.write { try one.core.step(.syncNow, $0) } }
            return .success(response)
        }
        _ = try one.makeDish(["texts.method": "Boil."])
        try one.sync()
        #expect(one.core.progress.missingFeatures.isEmpty)
        #expect(try one.database.read { try $0.pendingCounts().toSend } == 0)
    }

    /// A device that needs none of the features does not ask.
    @Test func featuresAreReadOnlyIfTheyAreNeeded() throws {
        let one = try world.device()
        var paths: [String] = []
        one.intercept = { request, respond in
            paths.append(request.path)
            return .success(respond())
        }
        _ = try one.makeNote("Soup")
        _ = try one.makeDish(["attributes.title": "Soup"])
        try world.settle()
        #expect(!paths.contains("/v1/server"))
        for _ in 0..<2 {
            _ = try one.makeDish(["texts.method": "Boil."])
            try world.settle()
        }
        #expect(paths.count { $0 == "/v1/server" } == 1)
    }
}

extension SyncDevice {
    /// Discards the responses to all requests, which arrive at the server.
    fileprivate func loseResponses() {
        intercept = { request, respond in
            let response = respond()
            return request.path == "/v1/server" ? .success(response) : .failure(NoResponse("lost"))
        }
    }

    fileprivate func makeDish(_ values: [String: String]) throws -> UniqueID {
        let id = UniqueID.random()
        let values = values.sorted { $0.key < $1.key }.map { (attribute: $0.key, value: Value.string($0.value)) }
        try database.write { _ = try $0.insert(LocalObject(id: id, type: "dish"), values: values) }
        return id
    }

    fileprivate func write(_ text: String, in id: UniqueID, _ attribute: String) throws {
        try edit(id, attribute, .string(text))
    }

    fileprivate func text(_ id: UniqueID, _ attribute: String) throws -> String? {
        try database.read { try $0.object(id)?.value(attribute)?.json.string }
    }

    fileprivate func objects(_ type: String) throws -> [LocalObject] {
        try database.read { transaction in
            try transaction.ids(type, onlyShown: true).compactMap { try transaction.object($0, type: type) }
        }
    }

    /// Adds an attachment whose bytes the server has.
    fileprivate func addAttachment() throws -> UniqueID {
        let id = UniqueID.random()
        let token = try database.read { try $0.sessionToken }
        let upload = ServerRequest(
            "PUT", "/v1/attachments/\(id)/data", headers: ["content-type": "application/octet-stream"],
            body: [1, 2, 3],
            token: token)
        try #require((200...299).contains(world.server.respond(to: upload, at: world.now).status))
        try database.write { transaction in
            var attachment = LocalObject(id: id, type: TypeName.attachment)
            attachment.made = LocalObject.Made(fixed: [AttributeName.mimeType: .string("image/png")])
            _ = try transaction.insert(attachment, values: [])
        }
        return id
    }
}
