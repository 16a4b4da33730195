import Foundation
import NIOConcurrencyHelpers

/// Listens to channels (LISTEN) on its own connection and thread, and reconnects when the connection is lost.
///
///     let listener = PostgresListener(settings, channels: ["heads"])
///     for await event in listener.events { … }
final class PostgresListener: Sendable {
    enum Event: Sendable, Equatable {
        /// Listening has started. Earlier notifications may have been missed, so the reader has to query the database.
        case connected
        /// The connection is lost. The listener reconnects.
        case disconnected
        case notification(channel: String, payload: String)
    }

    /// The events of the listener, for one reader. The stream ends after ``close()``.
    let events: AsyncStream<Event>
    private let settings: PostgresSettings
    private let channels: [String]
    private let isClosed = NIOLockedValueBox(false)
    private let continuation: AsyncStream<Event>.Continuation

    /// The maximum number of buffered events. If the buffer is full, the oldest event is dropped, and `connected` is sent again
    /// so that the reader queries the database.
    static let bufferLimit = 10_000
    /// If no notification arrives for this long, the listener runs a query to check that the server responds.
    private static let probeInterval: Duration = .seconds(15)
    /// The time after which the thread checks again whether it has to end.
    private static let pollInterval: Duration = .milliseconds(200)
    private static let firstPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(1)

    /// - Parameter channels: names made of letters, digits and `_`; they are inserted into SQL.
    init(_ settings: PostgresSettings, channels: [String], bufferLimit: Int = PostgresListener.bufferLimit) {
        self.settings = settings
        self.channels = channels
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(bufferLimit))
        let thread = Thread { self.listen() }
        thread.name = "hesper-listen"
        thread.start()
    }

    /// Ends the listener. Its thread ends within a few hundred milliseconds.
    func close() { isClosed.withLockedValue { $0 = true } }

    private var isOver: Bool { isClosed.withLockedValue { $0 } }

    private func listen() {
        var pause = PostgresListener.firstPause
        while !isOver {
            do {
                let connection = try Connection(settings)
                try connection.execute(script: channels.map { "LISTEN \($0);" }.joined())
                emit(.connected)
                pause = PostgresListener.firstPause
                try receive(connection)
            } catch {
                // The error is not reported here: requests that need the database report it.
                if pause == PostgresListener.firstPause { emit(.disconnected) }
                wait(pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, PostgresListener.longestPause)
            }
        }
        continuation.finish()
    }

    private func wait(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while !isOver, .now < end { Thread.sleep(forTimeInterval: PostgresListener.pollInterval / .seconds(1) / 4) }
    }

    /// Receives notifications until the listener is closed.
    /// - Throws: ``PostgresError`` if the connection is lost.
    private func receive(_ connection: Connection) throws {
        var lastReceipt = ContinuousClock.now
        while !isOver {
            if try connection.waitForNotification(PostgresListener.pollInterval) { lastReceipt = .now }
            while let (channel, payload) = connection.nextNotification() {
                emit(.notification(channel: channel, payload: payload))
            }
            guard .now - lastReceipt > PostgresListener.probeInterval else { continue }
            connection.timeout = Connection.probeTimeout
            try connection.run("SELECT 1")
            // If the server no longer accepts writes, another server has become the primary, and notifications are sent there.
            if connection.hasStoppedAcceptingWrites { throw PostgresError.lost("the server no longer accepts writes") }
            lastReceipt = .now
        }
    }

    private func emit(_ event: Event) {
        guard case .dropped = continuation.yield(event) else { return }
        continuation.yield(.connected)
    }
}
