import NIOConcurrencyHelpers
import NIOCore

/// What has come up for a listener since it last asked.
public struct ListenerUpdate: Sendable {
    /// Up to where its scope has committed, as far as that was announced.
    public var sequence: Int64 = 0
    /// What other devices said, in the order of each: JSON, a line each.
    public var messages: [ByteBuffer] = []
    /// How many other devices listen, if that has changed.
    public var others: Int?
    /// Whether it is time for a sign of life.
    public var isPingDue = false
    public var end: End?

    /// Why a listener hears no more.
    public enum End: Sendable {
        /// Its device is signed out, or its account is gone.
        case signedOut
        /// The device has opened too many others since.
        case replaced
        /// The server stops.
        case shutdown
        /// Nobody reads what it is sent.
        case gone
    }
}

/// Gathers a listener's news while it is busy with the last: a commit after a commit, or a count after a count, takes no
/// more room, and messages beyond a bound push out the oldest.
final class Mailbox: Sendable {
    /// Messages that wait at most.
    static let messages = 32

    private struct State {
        var news = ListenerUpdate()
        var toldSequence: Int64 = 0
        var toldOthers: Int?
        /// Seconds since the last news.
        var quiet = 0
        var waiting: CheckedContinuation<Void, Never>?

        var hasNews: Bool {
            news.sequence > toldSequence || !news.messages.isEmpty || news.others != nil || news.isPingDue
                || news.end != nil
        }

        mutating func take() -> ListenerUpdate {
            defer {
                toldSequence = news.sequence
                toldOthers = news.others ?? toldOthers
                quiet = 0
                news = ListenerUpdate(sequence: news.sequence, end: news.end)
            }
            return news
        }
    }

    private let ping: Int
    private let state = NIOLockedValueBox(State())

    init(ping: Int) { self.ping = ping }

    // MARK: For the hub

    func announce(_ sequence: Int64) {
        change { $0.news.sequence = max($0.news.sequence, sequence) }
    }

    func put(_ message: ByteBuffer) {
        change { state in
            if state.news.messages.count == Mailbox.messages { state.news.messages.removeFirst() }
            state.news.messages.append(message)
        }
    }

    func tell(others: Int) {
        change { $0.news.others = others == $0.toldOthers ? nil : others }
    }

    func tick() {
        change { state in
            state.quiet += 1
            if state.quiet >= ping { state.news.isPingDue = true }
        }
    }

    func end(_ end: ListenerUpdate.End) {
        change { $0.news.end = $0.news.end ?? end }
    }

    /// Changes what there is to tell, and wakes the listener if it waits for it.
    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            body(&state)
            guard state.hasNews else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    // MARK: For the listener

    var isOver: ListenerUpdate.End? { state.withLockedValue(\.news.end) }

    /// - Precondition: nobody else waits.
    func next() async -> ListenerUpdate {
        await withCheckedContinuation { continuation in
            let hasNews = state.withLockedValue { state in
                if !state.hasNews { state.waiting = continuation }
                return state.hasNews
            }
            if hasNews { continuation.resume() }
        }
        return state.withLockedValue { $0.take() }
    }
}
