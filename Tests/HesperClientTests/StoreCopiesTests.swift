import Foundation
import GRDB
import HesperClient
import HesperModel
import Testing

@Suite("Store: copies and several processes", .timeLimit(.minutes(10))) struct StoreCopiesTests {
    let temporary: TemporaryStore

    init() throws { temporary = try TemporaryStore() }

    private var memory: FolderMemory { FolderMemory(folder: temporary.folder.appending(path: "state")) }

    private func open(_ file: URL, _ memory: (any DeviceMemory)? = nil) async throws -> LocalStore {
        try await LocalStore(at: file, memory ?? self.memory, [Recipe.self])
    }

    private func signIn(_ store: LocalStore) throws {
        try store.database.write { records in
            try records.setMeta("session", JSON(members: [("account", "a"), ("token", "secret")]))
        }
    }

    private func state(_ store: LocalStore) throws -> (
        node: NodeID, signInAgain: SyncRecord.SignInReason?, token: String?
    ) {
        try store.database.read { records in
            (try records.clock.node, try records.sync.signInAgain, try records.meta("session")?["token"]?.string)
        }
    }

    /// Copies the database, with what is in its write-ahead log.
    private func copy(_ store: LocalStore, to file: URL) throws {
        try store.database.writer.writeWithoutTransaction { database in
            try database.execute(sql: "VACUUM INTO ?", arguments: [file.path])
        }
    }

    @Test func theSameFileKeepsItsNode() async throws {
        var node: NodeID?
        for _ in 0..<3 {
            let store = try await open(temporary.file)
            try signIn(store)
            try await store.insert(Recipe(title: "Soup"))
            let found = try state(store)
            #expect(found.signInAgain == nil && found.token == "secret")
            #expect(node == nil || node == found.node)
            node = found.node
        }
    }

    @Test func aFileOnAnotherDeviceIsACopy() async throws {
        let store = try await open(temporary.file)
        try signIn(store)
        let soup = try await store.insert(Recipe(title: "Soup"))
        let file = temporary.folder.appending(path: "copy.sqlite")
        try copy(store, to: file)
        let elsewhere = FolderMemory(folder: temporary.folder.appending(path: "other state"))
        let other = try await open(file, elsewhere)
        let (original, copied) = (try state(store), try state(other))
        #expect(copied.node != original.node)
        #expect(copied.signInAgain == .copied && copied.token == nil)
        #expect(original.signInAgain == nil)
        #expect(try await other.get(soup.id) == soup)
        // From now on it is a file of its own.
        #expect(try state(await open(file, elsewhere)).node == copied.node)
    }

    @Test func aRestoredBackupIsACopy() async throws {
        let file = temporary.folder.appending(path: "backup.sqlite")
        let node: NodeID
        do {
            let store = try await open(temporary.file)
            try signIn(store)
            try await store.insert(Recipe(title: "Soup"))
            try copy(store, to: file)
            node = try state(store).node
        }
        for _ in 0..<2 { _ = try await open(temporary.file) }
        let restored = try state(try await open(file))
        #expect(restored.node != node && restored.signInAgain == .copied)
    }

    @Test func withoutAPlaceOutsideOfTheFileItIsNotACopy() async throws {
        struct Nothing: DeviceMemory {
            struct Failure: Error {}
            func words(of store: String) throws -> [String] { throw Failure() }
            func setWords(_ words: [String], of store: String) throws { throw Failure() }
        }
        let store = try await open(temporary.file)
        try await store.insert(Recipe(title: "Soup"))
        let node = try state(store).node
        #expect(try state(await open(temporary.file, Nothing())).node == node)
    }

    /// Otherwise, undo would bring an object of the earlier account into the copy of the next one.
    @Test func anotherProcessErasesTheCopy() async throws {
        let (one, other) = (try await open(temporary.file), try await open(temporary.file))
        let soup = try await one.insert(Recipe(title: "Soup"))
        var iterator = one.values(Recipe.self).makeAsyncIterator()
        #expect(try await iterator.next()?.count == 1)
        try await one.delete(soup.id)
        #expect(try await iterator.next()?.isEmpty == true)
        try await one.insert(Recipe(title: "Stew"))
        #expect(try await iterator.next()?.map(\.title) == ["Stew"])
        try await other.signOut(erasing: .always)
        #expect(try await one.undo() == false)
        #expect(try await iterator.next()?.isEmpty == true)
        #expect(try await one.count(Recipe.self) == 0)
    }

    @Test func anotherProcessIsToldWhichTablesChanged() async throws {
        let (one, other) = (try await temporary.open(), try await temporary.open())
        #expect(try await one.database.noticeOtherProcesses() == [])
        let soup = try await other.insert(Recipe(title: "Soup"))
        #expect(try await other.database.noticeOtherProcesses() == [])
        #expect(try await one.database.noticeOtherProcesses() == ["object.recipe"])
        #expect(try await one.database.noticeOtherProcesses() == [])
        try await one.insert(HesperClient.Note(text: "Milk"))
        try await other.delete(soup.id)
        #expect(try await one.database.noticeOtherProcesses() == ["deletions", "object.recipe"])
        #expect(try await other.database.noticeOtherProcesses() == ["object.note"])
    }

    @Test func anObserverSeesTheChangesOfAnotherProcess() async throws {
        let (one, other) = (try await open(temporary.file), try await open(temporary.file))
        var iterator = one.values(Recipe.self).makeAsyncIterator()
        #expect(try await iterator.next()?.isEmpty == true)
        try await other.insert(Recipe(title: "Soup"))
        #expect(try await iterator.next()?.map(\.title) == ["Soup"])
    }

    @Test func clocksOfTwoProcessesDiffer() async throws {
        let (one, other) = (try await open(temporary.file), try await open(temporary.file))
        let soup = try await one.insert(Recipe(title: "Soup"))
        var clocks: Set<Clock> = []
        for number in 0..<20 {
            try await (number.isMultiple(of: 2) ? one : other).update(soup.id) { $0.title = "\(number)" }
            let cell = try one.database.read { try $0.object(soup.id.uniqueID)?.cell("attributes.title") }
            clocks.insert(try #require(cell).clock)
        }
        #expect(clocks.count == 20)
    }

    /// A server that cannot be reached.
    private struct NoServer: Transport {
        func send(_ request: ServerRequest) async throws(NoResponse) -> ServerResponse { throw NoResponse("offline") }
        func events(_ request: ServerRequest) -> AsyncThrowingStream<ServerEvent, any Error> {
            AsyncThrowingStream { $0.finish() }
        }
    }

    @Test func onlyOneProcessConnects() async throws {
        do {
            let session = Session(
                server: try ServerURL("https://notes.example.org"), account: .random(), email: "ada@example.org",
                device: NodeID(9), deviceName: "phone", token: "secret")
            try await temporary.open().database.write { try $0.begin(session) }
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        var connections = stream.makeAsyncIterator()
        func open(_ number: Int) async throws -> LocalStore {
            try await LocalStore(at: temporary.file, memory, [Recipe.self]) { _ in
                continuation.yield(number)
                return NoServer()
            }
        }
        let first = try await open(1)
        try await first.insert(Recipe(title: "Soup"))
        let stores = (first, try await open(2))
        #expect(await connections.next() == 1)
        #expect(stores.1.status.phase == .stopped)
        #expect(stores.1.status.toSend.objects == 1)
        // The other one connects as soon as the first does no longer.
        await stores.0.suspend()
        #expect(await connections.next() == 2)
        await stores.0.resume()
        await stores.1.suspend()
        #expect(await connections.next() == 1)
    }

    @Test func oneProcessConnects() throws {
        let (one, other) = (ConnectionLock(temporary.file), ConnectionLock(temporary.file))
        #expect(one.take() && one.take())
        #expect(!other.take())
        one.release()
        #expect(other.take())
        #expect(!one.take())
    }
}
