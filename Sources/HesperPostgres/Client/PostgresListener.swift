import Foundation
import NIOConcurrencyHelpers

/// Listens to channels (LISTEN) on a connection and a thread of its own, and goes on with another connection when that
/// one breaks.
///
///     let listener = PostgresListener(settings, channels: ["heads"])
///     for await event in listener.events { … }
final class PostgresListener: Sendable {
    enum Event: Sendable, Equatable {
        /// It listens, from now on: what was said before may have been missed, and is to be looked up.
        case connected
        /// The connection is lost; another is being made.
        case disconnected
        case notification(channel: String, payload: String)
    }

    /// What happens, for one reader. It ends when ``close()`` is called.
    let events: AsyncStream<Event>
    private let settings: PostgresSettings
    private let channels: [String]
    private let isClosed = NIOLockedValueBox(false)
    private let continuation: AsyncStream<Event>.Continuation

    /// Events that may wait for their reader; past them the oldest is dropped, and the reader told to look everything up.
    static let bufferLimit = 10_000
    /// How long nothing may be heard before the server is asked whether it is there.
    private static let silence: Duration = .seconds(15)
    /// How often it looks whether it is to end.
    private static let tick: Duration = .milliseconds(200)
    private static let firstPause: Duration = .milliseconds(100)
    private static let longestPause: Duration = .seconds(1)

    /// - Parameter channels: names as they are in SQL, made of letters, digits and `_`.
    init(_ settings: PostgresSettings, channels: [String], bufferLimit: Int = PostgresListener.bufferLimit) {
        self.settings = settings
        self.channels = channels
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(bufferLimit))
        let thread = Thread { self.listen() }
        thread.name = "hesper-listen"
        thread.start()
    }

    /// Ends it, soon.
    func close() { isClosed.withLockedValue { $0 = true } }

    private var isOver: Bool { isClosed.withLockedValue { $0 } }

    private func listen() {
        var pause = PostgresListener.firstPause
        while !isOver {
            do {
                let connection = try Connection(settings)
                try connection.execute(script: channels.map { "LISTEN \($0);" }.joined())
                tell(.connected)
                pause = PostgresListener.firstPause
                try hear(connection)
            } catch {
                // Why does not matter: whoever asks for something meanwhile is told.
                if pause == PostgresListener.firstPause { tell(.disconnected) }
                rest(pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, PostgresListener.longestPause)
            }
        }
        continuation.finish()
    }

    private func rest(_ duration: Duration) {
        let end = ContinuousClock.now + duration
        while !isOver, .now < end { Thread.sleep(forTimeInterval: PostgresListener.tick / .seconds(1) / 4) }
    }

    /// Hears notifications until it is to end.
    /// - Throws: ``PostgresError`` when the connection is lost.
    private func hear(_ connection: Connection) throws {
        var lastHeard = ContinuousClock.now
        while !isOver {
            if try connection.waitForNotification(PostgresListener.tick) { lastHeard = .now }
            while let (channel, payload) = connection.nextNotification() {
                tell(.notification(channel: channel, payload: payload))
            }
            guard .now - lastHeard > PostgresListener.silence else { continue }
            connection.patience = Connection.grace
            try connection.run("SELECT 1")
            // Nothing that matters is said there any more.
            if connection.isOutOfOffice { throw PostgresError.lost("the server takes no writes any more") }
            lastHeard = .now
        }
    }

    private func tell(_ event: Event) {
        guard case .dropped = continuation.yield(event) else { return }
        continuation.yield(.connected)
    }
}
