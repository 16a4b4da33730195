import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import HesperServer

@Suite("Signals of other servers")
struct EventHubServiceTests {
    private struct Fixture {
        let signals = TestSignals()
        let store: SharedStore
        let hub: EventHub
        let account: Account
        let phone = NodeID.random()
        let lines = NIOLockedValueBox<[String]>([])

        /// Runs `body` while the service runs.
        static func with(_ body: (Fixture) async throws -> Void) async throws {
            let folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            let fixture = try await Fixture(in: folder)
            let blobs = try FolderBlobs(path: folder.appending(path: "attachments").path)
            let service = EventHubService(
                hub: fixture.hub, pages: EventPages(backend: Backend(store: fixture.store, blobs: blobs)),
                store: fixture.store,
                logger: Logger(label: "test") { _ in LogRecorder(lines: fixture.lines) })
            let task = Task { try await service.run() }
            try await body(fixture)
            task.cancel()
            try await task.value
        }

        private init(in folder: URL) async throws {
            store = SharedStore(store: try SQLiteStore(folder: folder), signals: signals)
            hub = EventHub(signals: signals)
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

        /// The number of reads of the store.
        var reads: Int { -store.failures.withLockedValue { $0 } }

        func receive(_ event: SignalEvent) { signals.events.continuation.yield(event) }

        func eventually(_ condition: () -> Bool) async throws -> Bool {
            let end = ContinuousClock.now + .seconds(60)
            while !condition(), .now < end { try await Task.sleep(for: .milliseconds(5)) }
            return condition()
        }
    }

    @Test("A device that was signed out on another server is signed out here immediately")
    func signOutSignal() async throws {
        try await Fixture.with { fixture in
            let listener = try fixture.hub.listen(to: fixture.account.scope, as: fixture.phone, ping: 100)
            // Refreshes do not overlap: when the second begins, the first has finished.
            for count in 1...2 {
                fixture.receive(.signal(.sessionsChanged(fixture.account.scope), from: .random()))
                #expect(try await fixture.eventually { fixture.reads >= count })
            }
            #expect(listener.endReason == nil)
            try await fixture.signOut()
            fixture.receive(.signal(.sessionsChanged(fixture.account.scope), from: .random()))
            #expect(try await fixture.eventually { listener.endReason == .signedOut })
        }
    }

    @Test("A sign-out in an account without listeners causes no read")
    func signOutSignalWithoutListeners() async throws {
        try await Fixture.with { fixture in
            let listener = try fixture.hub.listen(to: fixture.account.scope, as: fixture.phone, ping: 100)
            fixture.receive(.signal(.sessionsChanged(ScopeID(1_000)), from: .random()))
            // Signals are processed in order.
            fixture.receive(.signal(.committed(fixture.account.scope, 7), from: .random()))
            while await listener.next().sequence < 7 {}
            #expect(fixture.reads == 0)
        }
    }

    @Test("After missed signals the store is read, and the hub announces its listeners and queries those of others")
    func missedSignals() async throws {
        try await Fixture.with { fixture in
            let listener = try fixture.hub.listen(to: fixture.account.scope, as: fixture.phone, ping: 100)
            try await fixture.signOut()
            // The first read fails.
            fixture.store.failures.withLockedValue { $0 = 1 }
            fixture.receive(.disconnected)
            fixture.receive(.disconnected)
            fixture.receive(.connected)
            #expect(try await fixture.eventually { listener.endReason == .signedOut })
            let sent = fixture.signals.sent.withLockedValue { $0 }
            #expect(
                sent == [
                    .joined(fixture.account.scope, fixture.phone), .presenceRequest,
                    .presence(fixture.account.scope, [fixture.phone]),
                ])
            let lines = fixture.lines.withLockedValue { $0 }
            // The error of the first read follows, unless another test logged an outage within the same second.
            #expect(lines.map { $0.prefix { $0 != " " } }.prefix(2) == ["warning", "notice"])
        }
    }

    @Test("Without a signal, a sign-out is found within a few seconds")
    func polling() async throws {
        try await Fixture.with { fixture in
            let listener = try fixture.hub.listen(to: fixture.account.scope, as: fixture.phone, ping: 100)
            try await fixture.signOut()
            #expect(try await fixture.eventually { listener.endReason == .signedOut })
        }
    }

    @Test("Other signals reach the hub; an unreadable one is logged once, in one line")
    func unreadableSignals() async throws {
        try await Fixture.with { fixture in
            let listener = try fixture.hub.listen(to: fixture.account.scope, as: fixture.phone, ping: 100)
            fixture.receive(.unreadable("a\nb"))
            fixture.receive(.unreadable("c"))
            fixture.receive(.signal(.committed(fixture.account.scope, 7), from: .random()))
            while await listener.next().sequence < 7 {}
            let lines = fixture.lines.withLockedValue { $0 }
            #expect(lines.count == 1 && lines[0].contains(#"a\nb"#))
        }
    }
}
