import Foundation
import HesperClient
import HesperClientTesting
import HesperModel
import Testing

/// The end of a session while requests are in progress, and deadlines.
struct StoreSessionTests {
    struct Recipe: SyncedObject {
        static let objectType = "recipe"
        var id = ObjectID<Recipe>()
        @Merged var title = ""
    }

    /// A connection to a server in memory that holds back responses.
    final class HeldServer: Transport {
        private struct State {
            var path: String?
            var held: [CheckedContinuation<Void, Never>] = []
        }

        let server = MemoryServer(seed: 1)
        private let state = Locked(State())

        func send(_ request: ServerRequest) async throws(NoResponse) -> ServerResponse {
            let response = try await server.send(request)
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if state.path.map(request.path.hasPrefix) ?? false {
                        state.held.append(continuation)
                    } else {
                        continuation.resume()
                    }
                }
            }
            return response
        }

        func events(_ request: ServerRequest) -> AsyncThrowingStream<ServerEvent, any Error> { server.events(request) }

        /// Holds back the responses to requests whose path begins with `path`, until ``release()``.
        func hold(_ path: String) { state.withLock { $0.path = path } }

        func release() {
            let held = state.withLock { state in
                defer { state = State() }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        /// Waits until a response is held back.
        func hasResponse() async throws {
            for _ in 0..<60_000 where state.withLock({ $0.held.isEmpty }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            try #require(state.withLock { !$0.held.isEmpty })
        }
    }

    let held = HeldServer()

    private func store(_ email: String = StoreSyncTests.email, isNew: Bool) async throws -> LocalStore {
        let store = try await LocalStore(
            LocalDatabase(path: nil), MemoryAttachmentFiles(), [Recipe.self], makeTransport: { [held] _ in held })
        if isNew {
            try await store.signUp(to: StoreSyncTests.address, email: email, password: StoreSyncTests.password)
        } else {
            try await store.signIn(to: StoreSyncTests.address, email: email, password: StoreSyncTests.password)
        }
        #expect(await store.syncNow().phase == .synced)
        return store
    }

    /// A store whose round of sync waits for a response that contains a recipe of another device.
    private func storeDuringARound() async throws -> LocalStore {
        let (phone, laptop) = (try await store(isNew: true), try await store(isNew: false))
        try await laptop.insert(Recipe(title: "Soup"))
        #expect(await laptop.syncNow().phase == .synced)
        held.hold("/v1/sync")
        await phone.syncNow(deadline: .zero)
        try await held.hasResponse()
        return phone
    }

    /// Otherwise, objects of the earlier account would appear in the copy, and be sent to the next account.
    @Test func nothingIsSavedAfterAnotherProcessErasedTheCopy() async throws {
        let phone = try await storeDuringARound()
        try phone.database.write { try $0.eraseAll() }
        held.release()
        #expect(await phone.syncNow().phase == .signedOut)
        #expect(try await phone.count(Recipe.self) == 0)
        #expect(try phone.database.read { try $0.sync.token } == nil)
    }

    @Test func signingOutWhileARoundIsInProgress() async throws {
        let phone = try await storeDuringARound()
        try await phone.signOut(erasing: .ifSent)
        #expect(phone.status.phase == .signedOut)
        held.release()
        try await phone.signUp(
            to: StoreSyncTests.address, email: "bob@example.org", password: StoreSyncTests.password)
        #expect(await phone.syncNow().phase == .synced)
        #expect(try await phone.count(Recipe.self) == 0)
    }

    /// A store in a file tries to sync twice a second, also while the server has not yet responded to the sign-out.
    @Test func syncDoesNotStartAgainDuringASignOut() async throws {
        let phone = try await store(isNew: true)
        held.hold("/v1/devices/")
        async let signOut: Void = phone.signOut()
        try await held.hasResponse()
        await phone.resume()
        #expect(await phone.syncNow().phase == .signedOut)
        held.release()
        try await signOut
        #expect(phone.status.phase == .signedOut && phone.status.problem == nil)
    }

    @Test func aDeadlineEndsOnlyItsOwnCall() async throws {
        let phone = try await store(isNew: true)
        held.hold("/v1/sync")
        // The round before has left nothing to send or fetch, but the requested round has not ended.
        #expect(await phone.syncNow(deadline: .zero).phase == .syncing)
        async let status: SyncStatus = phone.syncNow()
        try await phone.insert(Recipe(title: "Soup"))
        #expect(await phone.syncNow(deadline: .milliseconds(10)).phase == .syncing)
        held.release()
        #expect(await status.phase == .synced)
    }
}
