import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// Stores that sync, with a server in memory.
struct StoreSyncTests {
    struct Recipe: SyncedObject {
        static let objectType = "recipe"
        var id = ObjectID<Recipe>()
        @Merged var title = ""
        @Merged var cooked = Counter()
    }

    static let address = "http://127.0.0.1:1"
    static let email = "ada@example.org"
    static let password = "correct horse battery staple"

    let server = MemoryServer(seed: 1)

    private func store() async throws -> LocalStore {
        let server = server
        return try await LocalStore(
            LocalDatabase(path: nil), MemoryAttachmentFiles(), [Recipe.self], makeTransport: { _ in server })
    }

    private func signedIn() async throws -> LocalStore {
        let store = try await store()
        try await store.signIn(
            to: StoreSyncTests.address, email: StoreSyncTests.email, password: StoreSyncTests.password)
        return store
    }

    private func signedUp() async throws -> LocalStore {
        let store = try await store()
        try await store.signUp(
            to: StoreSyncTests.address, email: StoreSyncTests.email, password: StoreSyncTests.password)
        return store
    }

    @Test func twoStoresHaveTheSameObjects() async throws {
        let one = try await signedUp()
        let other = try await signedIn()
        let soup = try await one.insert(Recipe(title: "Soup"))
        #expect(await one.syncNow().phase == .synced)
        #expect(await other.syncNow().phase == .synced)
        try await other.update(soup.id) {
            $0.title = "Leek soup"
            $0.cooked += 1
        }
        try await one.update(soup.id) { $0.cooked += 2 }
        for store in [one, other, one, other] { await store.syncNow() }
        for store in [one, other] {
            let recipe = try #require(try await store.get(soup.id))
            #expect(recipe.title == "Leek soup")
            #expect(recipe.cooked.value == 3)
            #expect(store.status.isIdentical)
        }
    }

    /// Texts and files wait for a newer server, and everything else is synced.
    @Test func anOldServerIsReported() async throws {
        server.lacksObjectTexts = true
        let store = try await server.openStore(Dish.self)
        try await store.signUp(
            to: StoreSyncTests.address, email: StoreSyncTests.email, password: StoreSyncTests.password)
        let soup = try await store.insert(Dish(title: "Soup", method: "Boil."))
        let status = await store.syncNow()
        #expect(status.problem == .serverTooOld(missing: ["object-texts"]) && status.phase == .waiting)
        #expect(status.toSend.objects == 1)
        let registers = try store.database.read { try $0.object(soup.id.uniqueID)?.registers.keys.sorted() }
        #expect(registers == ["attributes.title"])
        server.lacksObjectTexts = false
        #expect(await store.syncNow().phase == .synced)
        #expect(store.status.problem == nil)
    }

    @Test func editsArriveByThemselves() async throws {
        let one = try await signedUp()
        let other = try await signedIn()
        for await status in other.statuses where status.isLive { break }
        let note = Note(text: "Soup")
        try await one.insert(note)
        for try await arrived in other.value(of: note.id) where arrived?.text.string == "Soup" { break }
    }

    @Test func anotherAccountIsRefusedUntilTheCopyIsErased() async throws {
        let store = try await signedUp()
        try await store.insert(Recipe(title: "Soup"))
        await store.syncNow()
        try await store.signOut()
        #expect(store.status.phase == .signedOut)
        #expect(try await store.account == StoreSyncTests.email)
        #expect(try await store.count(Recipe.self) == 1)
        await #expect(throws: AccountError.otherAccount(StoreSyncTests.email)) {
            try await store.signUp(
                to: StoreSyncTests.address, email: "bob@example.org", password: StoreSyncTests.password)
        }
        try await store.insert(Recipe(title: "Stew"))
        await #expect(throws: StoreError.unsentChanges(1)) { try await store.signOut(erasing: .ifSent) }
        try await store.signIn(
            to: StoreSyncTests.address, email: StoreSyncTests.email, password: StoreSyncTests.password)
        #expect(await store.syncNow().phase == .synced)
        try await store.signOut(erasing: .ifSent)
        #expect(try await store.count(Recipe.self) == 0)
        #expect(try await store.account == nil)
        try await store.signUp(
            to: StoreSyncTests.address, email: "bob@example.org", password: StoreSyncTests.password)
        #expect(await store.syncNow().phase == .synced)
    }

    @Test func syncingDoesNotWaitForDeletionsThatCanBeUndone() async throws {
        // Time stands still, so that the deletion, which can be undone for 10 s, does not become due.
        let clock = VirtualClock()
        let server = MemoryServer(now: { clock.now })
        let store = try await server.openStore(Recipe.self)
        try await store.signUp(
            to: StoreSyncTests.address, email: StoreSyncTests.email, password: StoreSyncTests.password)
        let soup = try await store.insert(Recipe(title: "Soup"))
        await store.syncNow()
        try await store.delete(soup.id)
        #expect(await store.syncNow(deadline: .seconds(60)).toSend.objects == 1)
        try await store.sendDeletionsNow()
        #expect(await store.syncNow().phase == .synced)
    }

    @Test func aWrongPasswordIsAnError() async throws {
        _ = try await signedUp()
        let store = try await store()
        await #expect(throws: AccountError.wrongPassword) {
            try await store.signIn(
                to: StoreSyncTests.address, email: StoreSyncTests.email, password: "not the password at all")
        }
        #expect(store.status.phase == .signedOut)
    }

    @Test func theServerIsOfflineAndReturns() async throws {
        let store = try await signedUp()
        await store.syncNow()
        server.isOffline = true
        let soup = try await store.insert(Recipe(title: "Soup"))
        #expect(await store.syncNow().phase == .offline)
        #expect(store.status.toSend.objects == 1)
        server.isOffline = false
        #expect(await store.syncNow().phase == .synced)
        let other = try await signedIn()
        await other.syncNow()
        #expect(try await other.get(soup.id)?.title == "Soup")
    }

    /// Two stores in files, over HTTP, with the server of the environment variable HESPER_BINARY.
    @Test(.enabled(if: RealServer.binary != nil)) func filesSyncThroughTheServer() async throws {
        let address = try await RealServer.shared.address()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let email = "\(UUID().uuidString.lowercased())@example.org"
        let one = try await LocalStore(at: folder.appending(path: "one.sqlite"), Recipe.self)
        let other = try await LocalStore(at: folder.appending(path: "other.sqlite"), Recipe.self)
        try await one.signUp(to: address, email: email, password: StoreSyncTests.password)
        try await other.signIn(to: address, email: email, password: StoreSyncTests.password)
        for await status in other.statuses where status.isLive { break }
        let note = try await one.insert(Note(text: "Soup\nBread"))
        for try await arrived in other.value(of: note.id) where arrived != nil { break }
        try await other.update(note.id) { $0.text = "Leek soup\nBread" }
        try await one.update(note.id) { $0.text = "Soup\nBread and butter" }
        for try await arrived in one.value(of: note.id) where arrived?.text.string == "Leek soup\nBread and butter" {
            break
        }
        await one.syncNow()
        await other.syncNow()
        #expect(one.status.isIdentical && other.status.isIdentical)
        #expect(try await other.get(note.id)?.text.string == "Leek soup\nBread and butter")
    }
}
