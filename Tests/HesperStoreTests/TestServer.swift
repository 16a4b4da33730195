import HesperModel
import NIOConcurrencyHelpers
import NIOCore

@testable import HesperStore

/// Signals that are collected until a test delivers them.
final class TestSignals: Signals {
    let server = ServerID.random()
    private let sent = NIOLockedValueBox<[Signal]>([])

    func send(_ signals: [Signal]) { sent.withLockedValue { $0 += signals } }

    func listen(_ receive: @Sendable (SignalEvent) -> Void) async {}

    /// The signals that were sent since the last call.
    func taken() -> [Signal] {
        sent.withLockedValue { sent in
            defer { sent = [] }
            return sent
        }
    }
}

/// The hub of a server and its signals.
struct TestServer {
    let signals = TestSignals()
    let hub: EventHub

    init() { hub = EventHub(signals: signals) }

    /// Delivers the signals that were sent since the last call to other servers.
    @discardableResult
    func deliver(to others: TestServer...) -> [Signal] {
        let sent = signals.taken()
        for other in others {
            for signal in sent { other.hub.receive(signal, from: signals.server) }
        }
        return sent
    }
}
