import NIOConcurrencyHelpers
import NIOCore

/// The events that have occurred for a listener since its previous update.
public struct ListenerUpdate: Sendable {
    /// The highest sequence number of the scope that has been announced.
    public var sequence: Int64 = 0
    /// Messages from other devices, each one line of JSON. The messages of each device are in the order in which it sent them.
    public var messages: [ByteBuffer] = []
    /// The progress of the scope's import, one line of JSON; nil if it has not changed.
    public var importProgress: ByteBuffer?
    /// The number of other devices of the scope that are listening; nil if the number has not changed.
    public var others: Int?
    /// Whether the stream must send a ping, because there were no events for some time.
    public var isPingDue = false
    public var end: End?

    /// The reason why a listener ended.
    public enum End: Sendable {
        /// The device was signed out, or the account was deleted.
        case signedOut
        /// The device has exceeded the maximum number of streams, and this was its oldest stream.
        case replaced
        /// The server is shutting down.
        case shutdown
        /// The connection to the client was closed.
        case disconnected
    }
}

/// Collects the events for a listener while the listener processes its previous update. The size of the collection is bounded: a
/// new sequence number, a new count or a new progress replaces the pending one. If there are too many messages, the oldest message
/// is dropped.
final class Mailbox: Sendable {
    /// The maximum number of pending messages.
    static let messages = 32

    private struct State {
        var pending = ListenerUpdate()
        var sentSequence: Int64 = 0
        var sentOthers: Int?
        /// The number of seconds since the listener received its previous update.
        var idleSeconds = 0
        var waiting: CheckedContinuation<Void, Never>?

        var hasUpdate: Bool {
            pending.sequence > sentSequence || !pending.messages.isEmpty || pending.others != nil || pending.isPingDue
                || pending.importProgress != nil || pending.end != nil
        }

        mutating func take() -> ListenerUpdate {
            defer {
                sentSequence = pending.sequence
                sentOthers = pending.others ?? sentOthers
                idleSeconds = 0
                pending = ListenerUpdate(sequence: pending.sequence, end: pending.end)
            }
            return pending
        }
    }

    private let ping: Int
    private let state = NIOLockedValueBox(State())

    init(ping: Int) { self.ping = ping }

    // MARK: For the hub

    func announce(_ sequence: Int64) {
        change { $0.pending.sequence = max($0.pending.sequence, sequence) }
    }

    func put(_ message: ByteBuffer) {
        change { state in
            if state.pending.messages.count == Mailbox.messages { state.pending.messages.removeFirst() }
            state.pending.messages.append(message)
        }
    }

    func setImportProgress(_ progress: ByteBuffer) {
        change { $0.pending.importProgress = progress }
    }

    func setOthers(_ count: Int) {
        change { $0.pending.others = count == $0.sentOthers ? nil : count }
    }

    func tick() {
        change { state in
            state.idleSeconds += 1
            if state.idleSeconds >= ping { state.pending.isPingDue = true }
        }
    }

    func end(_ end: ListenerUpdate.End) {
        change { $0.pending.end = $0.pending.end ?? end }
    }

    /// Changes the pending update. Wakes the listener if it is waiting and there is an update for it.
    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLockedValue { state -> CheckedContinuation<Void, Never>? in
            body(&state)
            guard state.hasUpdate else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    // MARK: For the listener

    var endReason: ListenerUpdate.End? { state.withLockedValue(\.pending.end) }

    /// Waits until there is an update, and returns it.
    /// - Precondition: no other task is waiting.
    func next() async -> ListenerUpdate {
        await withCheckedContinuation { continuation in
            let hasUpdate = state.withLockedValue { state in
                if !state.hasUpdate { state.waiting = continuation }
                return state.hasUpdate
            }
            if hasUpdate { continuation.resume() }
        }
        return state.withLockedValue { $0.take() }
    }
}
