import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import HesperServer

@Suite("What other servers do")
struct ListeningTests {
    private struct Scene {
        let wire = Wire()
        let store: SharedStore
        let hub: EventHub
        let account: Account
        let phone = NodeID.random()
        let lines = NIOLockedValueBox<[String]>([])

        /// Does `body` while it listens.
        static func with(_ body: (Scene) async throws -> Void) async throws {
            let folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let scene = try await Scene(in: folder)
            let blobs = try FolderBlobs(path: folder.appending(path: "attachments").path)
            let listening = Listening(
                hub: scene.hub, pages: EventPages(backend: Backend(store: scene.store, blobs: blobs)),
                store: scene.store,
                logger: Logger(label: "test") { _ in Lines(lines: scene.lines) })
            let task = Task { try await listening.run() }
            try await body(scene)
            task.cancel()
            try await task.value
        }

        private init(in folder: URL) async throws {
            store = SharedStore(store: try SQLiteStore(folder: folder), signals: wire)
            hub = EventHub(signals: wire)
            let phone = phone
            account = try await store.write { transaction in
                let date = Timestamp(clamping: 1_800_000_000_000)
                let account = try transaction.insertAccount(
                    .random(), email: "ada@example.org", passwordHash: "", creationDate: date)
                let device = Device(
                    node: phone, account: try #require(account).uniqueID, name: "phone", appVersion: nil,
                    userAgent: nil,
                    creationDate: date, lastUseDate: date)
                try transaction.insert(device, token: TokenHash(bytes: Array(repeating: 0, count: 32)))
                return try #require(account)
            }
        }

        func signOut() async throws {
            let (phone, id) = (phone, account.uniqueID)
            #expect(try await store.write { try $0.deleteDevice(phone, of: id) })
        }

        /// How often the store was looked at.
        var looks: Int { -store.failures.withLockedValue { $0 } }

        func hear(_ heard: SignalEvent) { wire.heard.continuation.yield(heard) }

        func eventually(_ condition: () -> Bool) async throws -> Bool {
            let end = ContinuousClock.now + .seconds(60)
            while !condition(), .now < end { try await Task.sleep(for: .milliseconds(5)) }
            return condition()
        }
    }

    @Test("Whoever was signed out on another server is so here, at once")
    func check() async throws {
        try await Scene.with { scene in
            let listener = try scene.hub.listen(to: scene.account.scope, as: scene.phone, ping: 100)
            // One look comes after the other: when the second begins the first is over.
            for count in 1...2 {
                scene.hear(.signal(.sessionsChanged(scene.account.scope), from: .random()))
                #expect(try await scene.eventually { scene.looks >= count })
            }
            #expect(listener.endReason == nil)
            try await scene.signOut()
            scene.hear(.signal(.sessionsChanged(scene.account.scope), from: .random()))
            #expect(try await scene.eventually { listener.endReason == .signedOut })
        }
    }

    @Test("Who was signed out of an account to which nobody listens is not asked for")
    func checkElsewhere() async throws {
        try await Scene.with { scene in
            let listener = try scene.hub.listen(to: scene.account.scope, as: scene.phone, ping: 100)
            scene.hear(.signal(.sessionsChanged(ScopeID(1_000)), from: .random()))
            // What is heard later is heard in turn.
            scene.hear(.signal(.committed(scene.account.scope, 7), from: .random()))
            while await listener.next().sequence < 7 {}
            #expect(scene.looks == 0)
        }
    }

    @Test("What was missed is looked up, and all are told who listens and asked for the same")
    func missed() async throws {
        try await Scene.with { scene in
            let listener = try scene.hub.listen(to: scene.account.scope, as: scene.phone, ping: 100)
            try await scene.signOut()
            // The store is away at first.
            scene.store.failures.withLockedValue { $0 = 1 }
            scene.hear(.disconnected)
            scene.hear(.disconnected)
            scene.hear(.connected)
            #expect(try await scene.eventually { listener.endReason == .signedOut })
            let sent = scene.wire.sent.withLockedValue { $0 }
            #expect(
                sent == [
                    .joined(scene.account.scope, scene.phone), .presenceRequest,
                    .presence(scene.account.scope, [scene.phone]),
                ])
            let lines = scene.lines.withLockedValue { $0 }
            #expect(lines.map { $0.prefix { $0 != " " } } == ["warning", "notice", "error"])
        }
    }

    @Test("What nobody told is found within a few seconds")
    func regularly() async throws {
        try await Scene.with { scene in
            let listener = try scene.hub.listen(to: scene.account.scope, as: scene.phone, ping: 100)
            try await scene.signOut()
            #expect(try await scene.eventually { listener.endReason == .signedOut })
        }
    }

    @Test("Other signals reach the hub, and nonsense the log, once and in one line")
    func nonsense() async throws {
        try await Scene.with { scene in
            let listener = try scene.hub.listen(to: scene.account.scope, as: scene.phone, ping: 100)
            scene.hear(.unreadable("a\nb"))
            scene.hear(.unreadable("c"))
            scene.hear(.signal(.committed(scene.account.scope, 7), from: .random()))
            while await listener.next().sequence < 7 {}
            let lines = scene.lines.withLockedValue { $0 }
            #expect(lines.count == 1 && lines[0].contains(#"a\nb"#))
        }
    }
}
