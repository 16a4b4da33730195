import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import HesperPostgres
@testable import StoreContract

@Suite(
    "Signals between servers on one database",
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct SignalsTests {
    /// The listening part of a server: passes received signals to its hub, and refreshes the hub when signals may be missing.
    private final class Peer: Sendable {
        let store: PostgresStore
        let hub: EventHub
        private let all = NIOLockedValueBox<[SignalEvent]>([])
        private let tasks = NIOLockedValueBox<[Task<Void, Never>]>([])

        init(_ store: PostgresStore) {
            self.store = store
            hub = EventHub(signals: store.signals)
            let (all, hub) = (all, hub)
            let task = Task<Void, Never> {
                await store.signals?.listen { heard in
                    all.withLockedValue { $0.append(heard) }
                    switch heard {
                    case .signal(let signal, let server): hub.receive(signal, from: server)
                    case .connected:
                        hub.exchangePresence()
                        Task { try await hub.refresh(from: store) }
                    case .disconnected, .unreadable: break
                    }
                }
            }
            let ticks = Task {
                while (try? await Task.sleep(for: .seconds(1))) != nil { hub.tick() }
            }
            tasks.withLockedValue { $0 = [task, ticks] }
        }

        deinit { for task in tasks.withLockedValue({ $0 }) { task.cancel() } }

        var heard: [SignalEvent] { all.withLockedValue { $0 } }

        var signals: [Signal] {
            heard.compactMap { if case .signal(let signal, _) = $0 { signal } else { nil } }
        }

        func receives(_ count: Int = 1, _ isExpected: (SignalEvent) -> Bool) async throws -> Bool {
            try await eventually { heard.count(where: isExpected) >= count }
        }
    }

    private static func eventually(_ condition: () -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !condition(), .now < end { try await Task.sleep(for: .milliseconds(2)) }
        return condition()
    }

    /// Runs `body` with two servers that receive each other's signals.
    private static func withServers(
        log: (@Sendable (String) -> Void)? = nil, _ body: @Sendable (Stores, Peer, Peer) async throws -> Void
    ) async throws {
        try await Stores.with { stores in
            let (here, there) = (Peer(try await stores.open(log: log)), Peer(try await stores.open()))
            #expect(try await here.receives { $0 == .connected })
            #expect(try await there.receives { $0 == .connected })
            try await body(stores, here, there)
        }
    }

    private let desk = NodeID.random()
    private let phone = NodeID.random()
    private let scope = ScopeID(17)

    @Test("Signals reach the other server in order, and not their sender")
    func heard() async throws {
        try await SignalsTests.withServers { _, here, there in
            let messages = (0..<300).map {
                Signal.message(scope, from: desk, ByteBuffer(string: #"{"data":"é\#($0)"}"#))
            }
            for message in messages { here.store.signals?.send([message]) }
            here.store.signals?.send([.committed(scope, 4_711), .sessionsChanged(scope)])
            let isHeard = try await SignalsTests.eventually {
                there.signals.filter { $0 != .presenceRequest }.count == 302
            }
            #expect(isHeard)
            #expect(there.signals.filter(messages.contains) == messages)
            #expect(there.signals.contains(.committed(scope, 4_711)) && there.signals.contains(.sessionsChanged(scope)))
            #expect(here.signals.allSatisfy { $0 == .presenceRequest })
        }
    }

    @Test("Each server knows the listeners of others, including those that started before it")
    func presence() async throws {
        try await SignalsTests.withServers { stores, here, there in
            let first = try there.hub.listen(to: scope, as: phone, ping: 100)
            let message = ByteBuffer(string: "{}")
            #expect(try await SignalsTests.eventually { here.hub.send(message, from: desk, in: scope) == 1 })
            let late = Peer(try await stores.open())
            #expect(try await SignalsTests.eventually { late.hub.send(message, from: desk, in: scope) == 1 })
            #expect(await first.next().messages.first == message)
        }
    }

    @Test("The listeners of a server that stops are removed on the other server")
    func stops() async throws {
        try await SignalsTests.withServers { _, here, there in
            var listener: Listener? = try there.hub.listen(to: scope, as: phone, ping: 100)
            #expect(
                try await SignalsTests.eventually { here.hub.send(ByteBuffer(), from: desk, in: scope) == 1 })
            withExtendedLifetime(listener) {}
            listener = nil
            await there.store.close()
            #expect(
                try await SignalsTests.eventually { here.hub.send(ByteBuffer(), from: desk, in: scope) == 0 })
        }
    }

    @Test("Unreadable notifications are ignored")
    func garbage() async throws {
        try await SignalsTests.withServers { stores, here, _ in
            let channel = "hesper_\(here.store.installation.node)"
            let payloads = ["", "garbage\nw", "1 9f86d081884c7d65\nm 1 x", String(repeating: "🙂", count: 1_999)]
            let settings = stores.database.settings
            try await onThread {
                let connection = try Connection(settings)
                for payload in payloads + ["1 9f86d081884c7d65\nc 5"] {
                    try connection.run("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
                }
            }
            #expect(
                try await here.receives {
                    $0 == .signal(.sessionsChanged(ScopeID(5)), from: ServerID(0x9f86_d081_884c_7d65))
                })
            let unreadable = here.heard.compactMap { if case .unreadable(let text) = $0 { text } else { nil } }
            #expect(unreadable == payloads.map { String($0.prefix(80)) })
        }
    }

    @Test("Announced changes can be read on the other server")
    func visible() async throws {
        try await SignalsTests.withServers { _, here, there in
            let desk = try await Client(on: here.store)
            let queue = PushQueue(store: here.store, committed: here.hub.announce)
            let scope = Scope(desk.scope, queue: queue, installation: here.store.installation) { Client.now }
            let listener = try there.hub.listen(to: desk.scope, as: desk.device.node, ping: 1_000)
            #expect(
                try await SignalsTests.eventually { here.hub.send(ByteBuffer(), from: .random(), in: desk.scope) == 1 })
            var sequence: Int64 = 0
            for _ in 0..<50 {
                let applied = try await scope.apply(
                    SignalsTests.newNote(by: desk), by: desk.device.node, since: nil, of: Feed(.all))
                while sequence < applied.after.sequence {
                    sequence = await listener.next().sequence
                    let head = try await there.store.read { try $0.head(of: desk.scope) }
                    #expect(head?.sequence ?? 0 >= sequence)
                }
            }
        }
    }

    @Test("No change is missed when the listening connection is lost during commits")
    func cut() async throws {
        try await SignalsTests.withServers { stores, here, there in
            let desk = try await Client(on: here.store)
            let queue = PushQueue(store: here.store, committed: here.hub.announce)
            let scope = Scope(desk.scope, queue: queue, installation: here.store.installation) { Client.now }
            let listener = try there.hub.listen(to: desk.scope, as: desk.device.node, ping: 1_000)
            #expect(
                try await SignalsTests.eventually { here.hub.send(ByteBuffer(), from: .random(), in: desk.scope) == 1 })
            let heard = NIOLockedValueBox<Int64>(0)
            let reader = Task {
                while case let news = await listener.next(), news.end == nil {
                    heard.withLockedValue { $0 = max($0, news.sequence) }
                }
            }
            for round in 1...5 {
                var last: Int64 = 0
                for index in 0..<40 {
                    if index == 20 {
                        try await stores.database.server.administer(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE datname = '\(stores.database.name)' AND query LIKE 'LISTEN%'
                            """)
                    }
                    last = try await scope.apply(
                        SignalsTests.newNote(by: desk), by: desk.device.node, since: nil, of: Feed(.all)
                    )
                    .after.sequence
                }
                #expect(try await SignalsTests.eventually { heard.withLockedValue { $0 } == last }, "\(round)")
                #expect(try await there.receives(round + 1) { $0 == .connected })
            }
            #expect(there.heard.contains(.disconnected))
            listener.end(.disconnected)
            await reader.value
        }
    }

    @Test("Commits send no NOTIFY without listeners and few with listeners, and no NOTIFY waits for the disk")
    func few() async throws {
        let statements = NIOLockedValueBox<[String]>([])
        let log: @Sendable (String) -> Void = { sql in statements.withLockedValue { $0.append(sql) } }
        try await SignalsTests.withServers(log: log) { _, here, there in
            // The servers exchange in the background who has listeners.
            #expect(try await SignalsTests.eventually { statements.withLockedValue { $0.contains("COMMIT") } })
            try await Task.sleep(for: .milliseconds(100))
            statements.withLockedValue { $0 = [] }
            for scope in 1...10_000 as ClosedRange<Int64> {
                here.hub.announce([ScopeHead(scope: ScopeID(scope), sequence: 1, digest: Digest())])
            }
            try await Task.sleep(for: .milliseconds(100))
            #expect(statements.withLockedValue { $0.isEmpty })

            var listeners: [Listener] = []
            for scope in 1...10_000 as ClosedRange<Int64> {
                listeners.append(try there.hub.listen(to: ScopeID(scope), as: phone, ping: 100))
            }
            #expect(
                try await SignalsTests.eventually { here.hub.send(ByteBuffer(), from: desk, in: ScopeID(10_000)) == 1 })
            statements.withLockedValue { $0 = [] }
            let start = ContinuousClock.now
            let commits = 20_000
            for commit in 1...commits {
                let scope = ScopeID(Int64(commit % 10_000 + 1))
                here.hub.announce([ScopeHead(scope: scope, sequence: Int64(commit), digest: Digest())])
                if commit.isMultiple(of: 100) { await Task.yield() }
            }
            let last = Signal.committed(ScopeID(Int64(commits % 10_000 + 1)), Int64(commits))
            #expect(try await SignalsTests.eventually { there.signals.contains(last) })
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let sent = statements.withLockedValue { $0 }
            let notifications = sent.count { $0 == PostgresSignals.notify }
            print("\(commits) commits in \(seconds) s sent \(notifications) NOTIFY")
            #expect(Double(notifications) <= 120 * seconds + 10)
            #expect(sent.count { $0 == "SET LOCAL synchronous_commit = off" } == notifications)
            withExtendedLifetime(listeners) {}
        }
    }

    private static func newNote(by desk: Client) -> Push { Push([desk.note(.random(), "Milk", at: 1)]) }
}
