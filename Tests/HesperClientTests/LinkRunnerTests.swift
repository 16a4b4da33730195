import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// Devices whose runners talk to a server in memory.
@Suite(.timeLimit(.minutes(10))) struct LinkRunnerTests {
    private let server = MemoryServer(seed: 1)

    private func accounts() throws -> Accounts {
        Accounts(server: try ServerURL("https://notes.example.org"), transport: server)
    }

    /// A device that is signed in, and whose runner has not been started.
    private func device(isNewAccount: Bool = false) async throws -> LinkDevice {
        let credentials = Accounts.Credentials(
            email: "ada@example.org", password: LinkHesper.password, deviceName: "test")
        let accounts = try accounts()
        let session =
            isNewAccount ? try await accounts.signUp(credentials) : try await accounts.signIn(credentials)
        return try LinkDevice(session) { [server] _ in server }
    }

    @Test func changesArriveAsTheyAreMade() async throws {
        let phone = try await device(isNewAccount: true)
        let laptop = try await device()
        for device in [phone, laptop] {
            await device.runner.start()
            #expect(await device.wait { $0.phase == .synced && $0.isIdentical && $0.isLive } != nil)
        }
        let id = try phone.makeNote("Milk")
        await phone.runner.changed()
        #expect(await laptop.waitForObject(id))
        let status = try #require(await phone.wait { $0.phase == .synced })
        #expect(status.toSend == SyncStatus.Amount())
        #expect(status.problem == nil)
        #expect(status.lastSync != nil)
    }

    @Test func attachments() async throws {
        let phone = try await device(isNewAccount: true)
        let laptop = try await device()
        await laptop.runner.start()
        let bytes = TransferBench.bytes(5 << 20)
        let (note, attachment) = try phone.makePicture(bytes)
        await phone.runner.start()
        #expect(await laptop.waitForObject(note))
        #expect(await laptop.wait { _ in laptop.bytes(attachment) == bytes } != nil)
        let status = try #require(await phone.wait { $0.phase == .synced })
        #expect(status.isIdentical)
        #expect(await laptop.wait { $0.phase == .synced } != nil)
    }

    @Test func largeFilesComeWhenTheyAreWanted() async throws {
        let phone = try await device(isNewAccount: true)
        let laptop = try await device()
        let bytes = TransferBench.bytes(5 << 20)
        let (note, attachment) = try phone.makePicture(bytes, mimeType: "application/zip")
        for device in [phone, laptop] { await device.runner.start() }
        #expect(await laptop.waitForObject(attachment))
        #expect(await laptop.wait { $0.phase == .synced } != nil)
        #expect(laptop.hasObject(note))
        #expect(laptop.bytes(attachment) == nil)
        server.isOffline = true
        try await laptop.runner.want(attachment)
        #expect(laptop.bytes(attachment) == nil, "it does not wait for the network")
        server.isOffline = false
        try await laptop.runner.want(attachment)
        #expect(laptop.bytes(attachment) == bytes)
        try await laptop.runner.want(attachment)
        await laptop.runner.stop()
        try await laptop.runner.want(.random())
    }

    /// All downloads are paused then, and the caller may show why.
    @Test(arguments: [Fault.tooManyRequests(retryAfter: 600), .storageFull]) func whatIsWantedCannotBeDownloadedNow(
        _ fault: Fault
    ) async throws {
        let phone = try await device(isNewAccount: true)
        let laptop = try await device()
        let (_, attachment) = try phone.makePicture(TransferBench.bytes(5 << 20), mimeType: "application/zip")
        for device in [phone, laptop] { await device.runner.start() }
        #expect(await laptop.waitForObject(attachment))
        server.fail(fault, times: 100, path: "/v1/attachments")
        try await laptop.runner.want(attachment)
        #expect(laptop.bytes(attachment) == nil)
    }

    @Test func withoutNetwork() async throws {
        let phone = try await device(isNewAccount: true)
        server.isOffline = true
        _ = try phone.makeNote("Milk")
        await phone.runner.start()
        let status = try #require(await phone.wait { $0.phase == .offline })
        #expect(status.problem == .offline)
        #expect(status.toSend.objects == 1)
        server.isOffline = false
        await phone.runner.syncNow()
        #expect(await phone.wait { $0.phase == .synced } != nil)
    }

    @Test func suspension() async throws {
        let phone = try await device(isNewAccount: true)
        let laptop = try await device()
        await phone.runner.start()
        #expect(await phone.wait { $0.phase == .synced } != nil)
        await phone.runner.stop()
        #expect(phone.runner.status.phase == .stopped)
        let id = try phone.makeNote("Milk")
        await phone.runner.changed()
        #expect(phone.runner.status.toSend.objects == 1)
        #expect(await laptop.runner.syncNow(deadline: .seconds(1)).phase == .stopped)
        await laptop.runner.start()
        #expect(await laptop.wait { $0.phase == .synced } != nil)
        #expect(!laptop.hasObject(id))
        await phone.runner.start()
        #expect(await laptop.waitForObject(id))
    }

    @Test func anExpiredSession() async throws {
        let phone = try await device(isNewAccount: true)
        await phone.runner.start()
        #expect(await phone.wait { $0.phase == .synced } != nil)
        server.signOutAllDevices()
        let id = try phone.makeNote("Milk")
        await phone.runner.changed()
        let status = try #require(await phone.wait { $0.problem == .signInAgain(.expired) })
        #expect(status.phase == .waiting)
        #expect(status.toSend.objects == 1)

        let accounts = try accounts()
        let other = try await accounts.signUp(
            Accounts.Credentials(email: "bob@example.org", password: LinkHesper.password, deviceName: "test"))
        #expect(throws: AccountError.otherAccount("ada@example.org")) {
            try phone.database.write { try $0.begin(other) }
        }
        let session = try await accounts.signIn(
            Accounts.Credentials(email: "ada@example.org", password: LinkHesper.password, deviceName: "test"))
        try phone.database.write { try $0.begin(session) }
        await phone.runner.sessionChanged()
        #expect(await phone.wait { $0.phase == .synced && $0.problem == nil } != nil)
        #expect(phone.hasObject(id))
        #expect(try phone.database.read { try $0.clock.node } == session.device)
    }

    @Test func withoutAnAccount() async throws {
        let device = try LinkDevice(nil) { [server] _ in server }
        await device.runner.start()
        _ = try device.makeNote("Milk")
        await device.runner.changed()
        #expect(device.runner.status.phase == .signedOut)
        #expect(device.runner.status.toSend.objects == 1)
        #expect(await device.runner.syncNow(deadline: .seconds(60)).phase == .signedOut)
    }

    @Test func syncingWithADeadline() async throws {
        let phone = try await device(isNewAccount: true)
        await phone.runner.start()
        _ = try phone.makePicture(TransferBench.bytes(100))
        #expect(await phone.runner.syncNow(deadline: .seconds(60)).phase == .synced)
        server.isOffline = true
        _ = try phone.makeNote("Milk")
        #expect(await phone.runner.syncNow(deadline: .seconds(60)).phase == .offline)
    }

    @Test func aStepThatCannotBeSavedIsTakenAgain() async throws {
        let phone = try await device(isNewAccount: true)
        await phone.runner.start()
        #expect(await phone.wait { $0.phase == .synced && $0.isLive } != nil)
        try await phone.database.writer.write {
            try $0.execute(
                sql: "CREATE TRIGGER fault BEFORE UPDATE ON meta BEGIN SELECT raise(ABORT, 'the test says so'); END")
        }
        let laptop = try await device()
        let id = try laptop.makeNote("Milk")
        await laptop.runner.start()
        let status = try #require(await phone.wait { $0.phase == .waiting })
        guard case .localCopyFailed(let reason)? = status.problem else {
            Issue.record("\(status)")
            return
        }
        #expect(reason.contains("the test says so"))
        #expect(!phone.hasObject(id))
        try await phone.database.writer.write { try $0.execute(sql: "DROP TRIGGER fault") }
        #expect(await phone.waitForObject(id))
        #expect(await phone.wait { $0.phase == .synced && $0.problem == nil } != nil)
    }

    @Test func aSlowReaderGetsTheLastStatus() async throws {
        var device: LinkDevice? = try await device(isNewAccount: true)
        let statuses = try #require(device?.runner.statuses)
        await device?.runner.start()
        #expect(await device?.wait { $0.phase == .synced && $0.isLive } != nil)
        await device?.runner.stop()
        var iterator = statuses.makeAsyncIterator()
        #expect(await iterator.next()?.phase == .stopped)
        device = nil
        #expect(await iterator.next() == nil, "the stream ends with the runner")
    }

    @Test(.needsHesper) func withARealServer() async throws {
        let hesper = try await LinkHesper()
        let credentials = hesper.credentials()
        let phone = try LinkDevice(try await hesper.accounts.signUp(credentials)) { URLSessionTransport(server: $0) }
        let laptop = try LinkDevice(try await hesper.accounts.signIn(credentials)) { URLSessionTransport(server: $0) }
        for device in [phone, laptop] {
            await device.runner.start()
            #expect(await device.wait { $0.phase == .synced && $0.isLive } != nil)
        }
        let bytes = TransferBench.bytes(9 << 20)
        let (note, attachment) = try phone.makePicture(bytes)
        await phone.runner.changed()
        #expect(await laptop.waitForObject(note))
        #expect(await laptop.wait { _ in laptop.bytes(attachment) == bytes } != nil)
        for device in [phone, laptop] {
            #expect(await device.wait { $0.phase == .synced && $0.isIdentical } != nil)
        }
        try phone.write("Milk\nBread", in: note)
        await phone.runner.changed()
        #expect(await laptop.wait { _ in laptop.text(note) == "Milk\nBread" } != nil)
    }
}

/// A copy in memory with a runner.
final class LinkDevice: Sendable {
    let database: LocalDatabase
    let files = MemoryAttachmentFiles()
    let runner: SyncRunner

    init(_ session: Session?, makeTransport: @escaping @Sendable (ServerURL) -> any Transport) throws {
        database = try LocalDatabase(path: nil)
        if let session { try database.write { try $0.begin(session) } }
        runner = SyncRunner(database: database, files: files, makeTransport: makeTransport)
    }

    /// The first status for which a condition holds; nil if there is none within ten minutes.
    func wait(_ condition: @escaping @Sendable (SyncStatus) -> Bool) async -> SyncStatus? {
        let search = Task { [statuses = runner.statuses] () -> SyncStatus? in
            for await status in statuses where condition(status) { return status }
            return nil
        }
        let timer = Task {
            try await Task.sleep(for: .seconds(600))
            search.cancel()
        }
        defer { timer.cancel() }
        return await search.value
    }

    func waitForObject(_ id: UniqueID) async -> Bool { await wait { [self] _ in hasObject(id) } != nil }

    func hasObject(_ id: UniqueID) -> Bool { (try? database.read { try $0.object(id) }) != nil }

    func text(_ id: UniqueID) -> String? {
        let value = try? database.read { try $0.object(id)?.value(AttributeName.text) }
        guard case .string(let text)? = value else { return nil }
        return text
    }

    func bytes(_ id: UniqueID) -> [UInt8]? {
        guard let file = files.file(id), file.isFinished else { return nil }
        return try? files.read(id, at: 0, count: Int(file.byteCount))
    }

    func makeNote(_ text: String, attachment: UniqueID? = nil) throws -> UniqueID {
        let id = UniqueID.random()
        try database.write { transaction in
            var note = LocalObject(id: id, type: TypeName.note)
            note.made = LocalObject.Made(fixed: [AttributeName.creationDate: .string(transaction.now.description)])
            var values: [(String, Value)] = [(AttributeName.text, .string(text))]
            if let attachment { values.append((AttributeName.attachment(attachment), .bool(true))) }
            _ = try transaction.insert(note, values: values)
        }
        return id
    }

    func write(_ text: String, in id: UniqueID) throws {
        try database.write { transaction in
            var note = try #require(try transaction.object(id))
            try transaction.edit(&note, AttributeName.text, .string(text))
            try transaction.save(note)
        }
    }

    /// A note with an attachment.
    func makePicture(
        _ bytes: [UInt8], mimeType: String = "image/png"
    ) throws -> (note: UniqueID, attachment: UniqueID) {
        let id = UniqueID.random()
        var rest: [UInt8]? = bytes
        let data = try files.add(id) {
            defer { rest = nil }
            return rest
        }
        try database.write { transaction in
            var attachment = LocalObject(id: id, type: TypeName.attachment)
            attachment.made = LocalObject.Made(
                fixed: [
                    "mimeType": .string(mimeType), "byteCount": .integer(data.byteCount),
                    "sha256": .string(data.sha256),
                ], needsBytes: true)
            _ = try transaction.insert(attachment, values: [])
            try transaction.setBytes(of: id, file: id, byteCount: data.byteCount)
        }
        return (try makeNote("A picture", attachment: id), id)
    }
}
