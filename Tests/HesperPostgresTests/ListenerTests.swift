import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct ListenerTests {
    /// The events of a listener so far.
    private final class Log: Sendable {
        private let events = NIOLockedValueBox<[PostgresListener.Event]>([])
        let reader: Task<Void, Never>

        init(_ listener: PostgresListener) {
            reader = Task { [events] in
                for await event in listener.events { events.withLockedValue { $0.append(event) } }
            }
        }

        var all: [PostgresListener.Event] { events.withLockedValue { $0 } }

        /// Waits until there are `count` events.
        func wait(_ count: Int) async throws -> [PostgresListener.Event] {
            let end = ContinuousClock.now + .seconds(60)
            while all.count < count, .now < end { try await Task.sleep(for: .milliseconds(5)) }
            return all
        }
    }

    private static func notify(_ settings: PostgresSettings, _ payloads: [String], on channel: String = "heads")
        async throws
    {
        try await onThread {
            let connection = try Connection(settings)
            for payload in payloads {
                connection.enqueue("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
            }
            try connection.flush()
        }
    }

    @Test func notificationsOnItsChannelsAreReceived() async throws {
        let database = try await PostgresServer.running.database()
        let listener = PostgresListener(database.settings, channels: ["heads", "notes_of_others"])
        let log = Log(listener)
        #expect(try await log.wait(1) == [.connected])
        try await ListenerTests.notify(database.settings, ["1", "é 2"])
        try await ListenerTests.notify(database.settings, ["ignored"], on: "elsewhere")
        try await ListenerTests.notify(database.settings, [""], on: "notes_of_others")
        #expect(
            try await log.wait(4) == [
                .connected, .notification(channel: "heads", payload: "1"),
                .notification(channel: "heads", payload: "é 2"),
                .notification(channel: "notes_of_others", payload: ""),
            ])
        listener.close()
        // The stream ends, and so does its reader.
        await log.reader.value
    }

    @Test func itReconnectsWhenItsConnectionIsLost() async throws {
        let database = try await PostgresServer.running.database()
        let listener = PostgresListener(database.settings, channels: ["heads"])
        let log = Log(listener)
        #expect(try await log.wait(1) == [.connected])
        try await database.server.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'")
        #expect(try await log.wait(3) == [.connected, .disconnected, .connected])
        try await ListenerTests.notify(database.settings, ["1"])
        #expect(try await log.wait(4).last == .notification(channel: "heads", payload: "1"))
        listener.close()
        await log.reader.value
    }

    @Test func itReconnectsWhenTheServerStartsAgain() async throws {
        let server = try await PostgresServer()
        let listener = PostgresListener(PostgresSettings(server.string()), channels: ["heads"])
        let log = Log(listener)
        #expect(try await log.wait(1) == [.connected])
        try await server.control("stop -m immediate")
        #expect(try await log.wait(2) == [.connected, .disconnected])
        try await Task.sleep(for: .milliseconds(500))
        try await server.control("start")
        #expect(try await log.wait(3) == [.connected, .disconnected, .connected])
        listener.close()
        await log.reader.value
    }

    @Test func aSlowReaderGetsAConnectedEventAfterDroppedOnes() async throws {
        let database = try await PostgresServer.running.database()
        let listener = PostgresListener(database.settings, channels: ["heads"], bufferLimit: 10)
        var events = listener.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        try await ListenerTests.notify(database.settings, (1...100).map { "\($0)" })
        try await ListenerTests.notify(database.settings, ["last"])
        var seen: [PostgresListener.Event] = []
        try await Task.sleep(for: .milliseconds(500))
        listener.close()
        while let event = await events.next() { seen.append(event) }
        // The last event tells the reader to query the database.
        #expect(seen.count == 10 && seen.last == .connected)
    }
}
