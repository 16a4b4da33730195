import HesperModel
import HesperStore
import NIOCore

/// Signals that wait to be sent. What a later one makes superfluous is left out: a scope that moves on a thousand times
/// meanwhile is one signal.
struct Outbox {
    /// Messages of devices that wait at most; more push out the oldest.
    static let messages = 1_000

    private var isAsking = false
    private var here: [ScopeID: Set<NodeID>] = [:]
    /// Who came, or went, since.
    private var changes: [ScopeID: [NodeID: Bool]] = [:]
    private var checks: Set<ScopeID> = []
    private var moves: [ScopeID: Int64] = [:]
    private var said = CircularBuffer<Signal>()

    var isEmpty: Bool {
        !isAsking && here.isEmpty && changes.isEmpty && checks.isEmpty && moves.isEmpty && said.isEmpty
    }

    mutating func add(_ signal: Signal) {
        switch signal {
        case .presenceRequest: isAsking = true
        case .presence(let scope, let devices):
            here[scope] = devices
            changes[scope] = nil
        case .joined(let scope, let device): change(scope, device, isHere: true)
        case .left(let scope, let device): change(scope, device, isHere: false)
        case .sessionsChanged(let scope): checks.insert(scope)
        case .committed(let scope, let sequence): moves[scope] = max(moves[scope] ?? 0, sequence)
        case .message:
            if said.count == Outbox.messages { said.removeFirst() }
            said.append(signal)
        }
    }

    private mutating func change(_ scope: ScopeID, _ device: NodeID, isHere: Bool) {
        guard here[scope] != nil else {
            changes[scope, default: [:]][device] = isHere
            return
        }
        if isHere { here[scope]?.insert(device) } else { here[scope]?.remove(device) }
    }

    /// Takes them all: first who listens, so that a message finds them.
    mutating func take() -> [Signal] {
        var signals: [Signal] = isAsking ? [.presenceRequest] : []
        signals += here.map { .presence($0.key, $0.value) }
        for (scope, devices) in changes {
            signals += devices.map { $0.value ? .joined(scope, $0.key) : .left(scope, $0.key) }
        }
        signals += checks.map { .sessionsChanged($0) }
        signals += moves.map { .committed($0.key, $0.value) }
        signals += said
        self = Outbox()
        return signals
    }
}
