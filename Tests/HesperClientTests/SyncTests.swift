import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// The rules of docs/clients.md, on two devices and a server in memory.
struct SyncTests {
    @Test func editsReachTheOtherDevice() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeNote("Soup")
        try world.settle()
        #expect(try other.text(id) == "Soup")
        try other.edit(id, AttributeName.archived, .bool(true))
        try one.edit(id, AttributeName.custom("pinned"), .bool(true))
        try world.settle()
        for device in [one, other] {
            let note = try #require(try device.database.read { try $0.object(id) })
            #expect(note.value(AttributeName.archived) == .bool(true))
            #expect(note.value(AttributeName.custom("pinned")) == .bool(true))
            #expect(!note.isPending)
        }
    }

    @Test func textsOfBothDevicesAreMerged() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeNote("Soup\nBread")
        try world.settle()
        try one.write("Leek soup\nBread", in: id)
        try other.write("Soup\nBread and butter", in: id)
        try other.write("Soup\nBread and salt", in: id)
        try world.settle()
        #expect(try one.text(id) == "Leek soup\nBread and salt")
        #expect(try other.text(id) == "Leek soup\nBread and salt")
    }

    @Test func aTextTypedOnWhileItIsSentKeepsItsDescent() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeNote("a\n")
        try world.settle()
        try other.write("a\nother\n", in: id)
        try other.sync()
        try one.write("a\none\n", in: id)
        // The response is lost, and the person types on.
        one.intercept = { _, respond in
            _ = respond()
            return .failure(NoResponse("lost"))
        }
        try one.sync()
        try one.write("a\none more\n", in: id)
        one.intercept = { .success($1()) }
        try world.settle()
        let text = try #require(try one.text(id))
        #expect(text.contains("one more") && text.contains("other"))
        #expect(try other.text(id) == text)
        #expect(text.components(separatedBy: "one").count == 2, "\(text)")
    }

    @Test func aLostResponseDoublesNothing() throws {
        let world = SyncWorld()
        let one = try world.device()
        one.intercept = { _, respond in
            _ = respond()
            return .failure(NoResponse("lost"))
        }
        _ = try one.makeNote("Soup")
        try one.sync()
        #expect(one.core.progress.offlineSince != nil)
        one.intercept = { .success($1()) }
        try world.settle()
        let other = try world.device()
        try world.settle()
        #expect(try other.notes().count == 1)
    }

    @Test func aDeletedNoteIsDeletedEverywhere() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeNote("Soup")
        try world.settle()
        try other.delete(id)
        try world.settle()
        #expect(try one.database.read { try $0.object(id) } == nil)
        #expect(try one.database.read { try $0.deleted(id) } != nil)
    }

    @Test func wordsThatADeletionHadNotSeenAreRescued() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let id = try one.makeNote("Soup")
        try world.settle()
        try one.delete(id)
        try other.write("Soup with leek", in: id)
        try one.sync()
        try world.settle()
        for device in [one, other] {
            #expect(try device.text(id) == nil)
            #expect(try Array(device.notes().values) == ["Soup with leek"])
        }
    }

    @Test func aRestoredServerIsGivenBackWhatItLacks() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let first = try one.makeNote("first")
        let doomed = try one.makeNote("doomed")
        try world.settle()
        let backup = world.server.backUp()
        let second = try one.makeNote("second")
        try other.write("first, edited", in: first)
        try one.delete(doomed)
        try world.settle()
        world.server.restore(backup)
        try world.settle()
        let new = try world.device()
        try world.settle()
        #expect(try new.notes() == [first: "first, edited", second: "second"])
    }

    /// The server read its clock at some moment between request and response. An offset within these bounds stays.
    @Test func aSlowResponseDoesNotChangeTheOffsetOfTheClock() throws {
        let world = SyncWorld()
        let one = try world.device()
        func offset() throws -> Int64 { try one.database.read { try $0.clock.offset } }
        one.intercept = { _, respond in
            world.clock.advance(by: 2)
            let response = respond()
            world.clock.advance(by: 3)
            return .success(response)
        }
        try one.sync()
        #expect(try offset() == 0)
        one.clockError.withLock { $0 = -60 }
        try one.sync()
        #expect(try offset() == 57_000)
        one.intercept = { .success($1()) }
        try one.sync()
        #expect(try offset() == 60_000)
        one.clockError.withLock { $0 = 3_600 }
        try one.sync()
        #expect(try offset() == -3_600_000)
    }

    @Test func aClockAheadIsStampedAgain() throws {
        let world = SyncWorld()
        let one = try world.device()
        try one.sync()
        let id = try one.makeNote("Soup")
        let ahead = Timestamp(clamping: world.now.milliseconds + 3_600_000)
        try one.database.write { transaction in
            var note = try #require(try transaction.object(id))
            let clock = try #require(
                Clock(milliseconds: UInt64(ahead.milliseconds), counter: 0, node: transaction.clock.node))
            note.edits[AttributeName.text]?.clock = clock
            try transaction.save(note)
        }
        try world.settle()
        #expect(try one.text(id) == "Soup")
        let clock = try #require(try one.database.read { try $0.object(id)?.registers[AttributeName.text]?.clock })
        #expect(clock.timestamp < ahead)
    }

    @Test func changesOverTheQuotaWaitAndAreSentLater() throws {
        let world = SyncWorld()
        let one = try world.device()
        let small = try one.makeNote("small")
        try world.settle()
        world.server.setQuota(4_000)
        let large = try one.makeNote(String(repeating: "leek ", count: 2_000))
        try one.edit(small, AttributeName.archived, .bool(true))
        try one.sync()
        let counts = try one.database.read { try $0.pendingCounts() }
        #expect(counts.toSend == 1 && counts.held == 1)
        #expect(try one.database.read { try $0.shelf().isEmpty })
        world.server.setQuota(nil)
        world.clock.advance(by: 3_600)
        try world.settle()
        let other = try world.device()
        try world.settle()
        #expect(try other.text(large)?.count == 10_000)
    }

    /// The clock was ahead by 30 days when the change was held. A restarted app does not know that.
    @Test(arguments: [false, true])
    func changesThatWaitForSpaceAreSentAfterTheClockWasSetBack(isRestarted: Bool) throws {
        let world = SyncWorld()
        let one = try world.device()
        try world.settle()
        world.server.setQuota(1)
        one.clockError.withLock { $0 = 30 * 86_400 }
        _ = try one.makeNote("Soup")
        try one.sync()
        #expect(try one.database.read { try $0.pendingCounts().held } == 1)
        world.server.setQuota(nil)
        world.clock.advance(by: 60)
        one.clockError.withLock { $0 = 0 }
        if isRestarted { one.core = SyncCore(seed: 9) }
        try one.sync(isRestarted ? .session : .wake)
        #expect(try one.database.read { try $0.pendingCounts().held } == 1)
        world.clock.advance(by: 60)
        try one.sync(.wake)
        #expect(try one.database.read { try $0.pendingCounts().toSend } == 0)
    }

    @Test func aCopyThatDiffersIsNotReadAgainWhileChangesWait() throws {
        let world = SyncWorld()
        let one = try world.device()
        let id = try one.makeNote("Soup")
        try world.settle()
        world.server.setQuota(1)
        _ = try one.makeNote("Leek")
        try one.database.write { transaction in
            try transaction.remove(try #require(try transaction.object(id)))
            let recently = Timestamp(clamping: transaction.now.milliseconds - 7_200_000)
            try transaction.withSync { $0.repaired = recently }
        }
        try one.sync()
        #expect(try #require(one.wake) > world.now)
    }

    @Test func aCopyIsRepairedAgainAfterTheClockWasSetBack() throws {
        let world = SyncWorld()
        let one = try world.device()
        let id = try one.makeNote("Soup")
        try world.settle()
        try one.database.write { transaction in
            try transaction.remove(try #require(try transaction.object(id)))
            let ahead = Timestamp(clamping: transaction.now.milliseconds + 30 * 86_400_000)
            try transaction.withSync { $0.repaired = ahead }
        }
        try world.settle()
        #expect(try one.text(id) == "Soup")
    }

    @Test func anAppsObjectsAreRegisters() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let id = UniqueID.random()
        _ = try one.database.write { transaction in
            try transaction.insert(
                LocalObject(id: id, type: "recipe"),
                values: [("attributes.title", .string("Soup")), ("attributes.servings.count", .integer(4))])
        }
        try world.settle()
        try one.edit(id, "attributes.title", .string("Leek soup"))
        try other.edit(id, "attributes.servings.count", .integer(6))
        try world.settle()
        for device in [one, other] {
            let object = try #require(try device.database.read { try $0.object(id, type: "recipe") })
            #expect(object.value("attributes.title") == .string("Leek soup"))
            #expect(object.value("attributes.servings.count") == .integer(6))
        }
    }

    /// Registers that the app does not declare are kept, and given back to a restored server.
    @Test func textsAndFilesOfAppObjectsAreCarried() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        let (id, photo) = (UniqueID.random(), Value.string(UniqueID.random().description))
        let values: [(String, Value)] = [
            ("attributes.title", .string("Soup")), ("texts.method", .string("Boil.\n")), ("texts.notes", .string("")),
            ("files.photo", photo), ("files.scan", .null),
        ]
        let backup = world.server.backUp()
        _ = try one.database.write { try $0.insert(LocalObject(id: id, type: "recipe"), values: values) }
        try world.settle()
        try other.edit(id, "attributes.title", .string("Leek soup"))
        try world.settle()
        world.server.restore(backup)
        try world.settle()
        let new = try world.device()
        try world.settle()
        for device in [one, other, new] {
            let object = try #require(try device.database.read { try $0.object(id, type: "recipe") })
            #expect(object.value("attributes.title") == .string("Leek soup"))
            for (name, value) in values.dropFirst() { #expect(object.value(name) == value, "\(name)") }
        }
    }

    @Test func anObjectThatIsDeletedBeforeItIsSentLeavesNothing() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        try world.settle()
        for type in ["recipe", TypeName.note] {
            let id = UniqueID.random()
            try one.database.write { transaction in
                var object = LocalObject(id: id, type: type)
                if type == TypeName.note {
                    object.made = LocalObject.Made(fixed: [
                        AttributeName.creationDate: .string("2026-01-01T00:00:00.000Z")
                    ])
                }
                _ = try transaction.insert(object, values: [("attributes.title", .string("Soup"))])
            }
            try one.delete(id)
            try world.settle()
            #expect(try other.database.read { try $0.deleted(id) } != nil)
        }
    }

    /// The edits of a device that was revoked as lost are rejected, also after it has signed in again.
    @Test func aNewTagWhoseNameIsRejectedLeavesNothing() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        try world.settle()
        let id = UniqueID.random()
        let node = try one.database.write { transaction in
            _ = try transaction.insert(
                LocalObject(id: id, type: TypeName.tag), values: [(AttributeName.name, .string("Paris"))])
            return try transaction.clock.node
        }
        let body: JSON = ["moment": .string(Timestamp(clamping: world.now.milliseconds - 1_000).description)]
        let revocation = ServerRequest(
            "POST", "/v1/devices/\(node)/revocation", headers: ["content-type": "application/json"], body: body.bytes,
            token: try other.database.read { try $0.sessionToken })
        #expect(world.server.respond(to: revocation, at: world.now).status == 201)
        try one.signIn(isNewAccount: false)
        try one.sync(.session)
        #expect(try one.database.read { try $0.shelf().map(\.slug) } == ["device-revoked"])
        #expect(try one.database.read { try $0.ids(TypeName.tag) } == [])
        try world.settle()
    }

    @Test func aResponseThatIsOlderThanAnEventIsFollowedByAnotherRequest() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        try world.settle()
        // During each of the first two requests, another device pushes, and its change arrives as an event before the response.
        var count = 0
        one.intercept = { request, respond in
            let response = respond()
            guard count < 2 else { return .success(response) }
            count += 1
            do {
                _ = try other.makeNote("Note \(count)")
                try other.sync()
                let page = world.server.respond(to: request, at: world.now)
                _ = try one.database.write {
                    try one.core.step(.event(ServerEvent(name: "changes", data: page.body)), $0)
                }
            } catch { Issue.record(error) }
            return .success(response)
        }
        try one.sync()
        #expect(count == 2)
        #expect(try one.database.read { try $0.sync.isIdentical } == false)
        #expect(try one.database.read { try $0.sync.repaired } == nil)
        world.clock.advance(by: 2)
        try one.sync(.wake)
        #expect(try one.database.read { try $0.sync.isIdentical } == true)
        #expect(try one.notes().count == 2)
    }

    /// Otherwise, a caller of `syncNow` would not receive what another device had sent before the call.
    @Test func aSyncThatIsRequestedDuringARequestSendsAnother() throws {
        let world = SyncWorld()
        let (one, other) = (try world.device(), try world.device())
        var isFirst = true
        one.intercept = { _, respond in
            let response = respond()
            guard isFirst else { return .success(response) }
            isFirst = false
            do {
                _ = try other.makeNote("Soup")
                try other.sync()
                _ = try one.database.write { try one.core.step(.syncNow, $0) }
            } catch { Issue.record(error) }
            return .success(response)
        }
        try one.sync()
        #expect(try one.notes().values.sorted() == ["Soup"])
    }

    @Test func editsBeforeSigningInKeepTheirClocks() throws {
        let world = SyncWorld()
        let device = try SyncDevice(world, seed: 1)
        let id = try device.makeNote("Soup")
        let clock = try #require(try device.database.read { try $0.object(id)?.edits[AttributeName.text]?.clock })
        try device.signIn(isNewAccount: true)
        try device.sync()
        let standing = try #require(
            try device.database.read { try $0.object(id)?.registers[AttributeName.text]?.clock })
        #expect(standing == clock)
        #expect(try device.database.read { try $0.clock.node } != clock.node)
    }

    @Test func anExpiredSessionKeepsEverything() throws {
        let world = SyncWorld()
        let one = try world.device()
        let id = try one.makeNote("Soup")
        world.server.signOutAllDevices()
        try one.sync()
        #expect(try one.database.read { try $0.sync.signInAgain } == .expired)
        #expect(try one.text(id) == "Soup")
        #expect(try one.database.read { try $0.pendingCounts().toSend } == 1)
    }
}
