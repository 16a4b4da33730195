import NIOConcurrencyHelpers
import NIOCore

/// The events for a listener since its previous update.
public struct ListenerUpdate: Sendable {
    /// The latest announced sequence number of the scope.
    public var sequence: Int64 = 0
    /// Messages of other devices, each one line of JSON. The messages of one device are in the order in which it sent them.
    public var messages: [ByteBuffer] = []
    /// The number of other listening devices, if it has changed.
    public var others: Int?
    /// Whether a ping must be sent, because there were no events for some time.
    public var isPingDue = false
    public var end: End?

    /// The reason why a listener ended.
    public enum End: Sendable {
        /// The device was signed out, or the account was deleted.
        case signedOut
        /// The device has opened too many newer streams.
        case replaced
        /// The server is shutting down.
        case shutdown
        /// The client's connection is closed.
        case disconnected
    }
}

/// Collects the events for a listener while it processes the previous update. A commit replaces the previous commit, a count the
/// previous count, and beyond a maximum number of messages the oldest is dropped, so that its size is bounded.
final class Mailbox: Sendable {
    /// The maximum number of pending messages.
    static let messages = 32

    private struct State {
        var pending = ListenerUpdate()
        var sentSequence: Int64 = 0
        var sentOthers: Int?
        /// The number of seconds since the last update.
        var idleSeconds = 0
        var waiting: CheckedContinuation<Void, Never>?

        var hasUpdate: Bool {
            pending.sequence > sentSequence || !pending.messages.isEmpty || pending.others != nil || pending.isPingDue
                || pending.end != nil
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

    /// Changes the pending update, and wakes the listener if it is waiting.
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
