import HesperModel
import NIOConcurrencyHelpers
import NIOCore

@testable import HesperStore

/// Signals between hubs of one process, carried when the test says so.
final class Wire: Signals {
    let server = ServerID.random()
    private let sent = NIOLockedValueBox<[Signal]>([])

    func send(_ signals: [Signal]) { sent.withLockedValue { $0 += signals } }

    func listen(_ hear: @Sendable (SignalEvent) -> Void) async {}

    /// What was sent since this was asked last.
    func taken() -> [Signal] {
        sent.withLockedValue { sent in
            defer { sent = [] }
            return sent
        }
    }
}

/// A server's hub, and its end of the wire.
struct HubOnWire {
    let wire = Wire()
    let hub: EventHub

    init() { hub = EventHub(signals: wire) }

    /// Has others hear what it sent since the last time.
    @discardableResult
    func deliver(to others: HubOnWire...) -> [Signal] {
        let signals = wire.taken()
        for other in others {
            for signal in signals { other.hub.receive(signal, from: wire.server) }
        }
        return signals
    }
}
