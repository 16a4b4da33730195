import HesperModel
import HesperStore
import NIOCore

/// Signals that wait to be sent. If a later signal supersedes a queued signal, only the later signal is sent. For example, if a
/// scope was changed a thousand times, one signal is sent.
struct SignalQueue {
    /// The maximum number of queued messages from devices. If a message is added to a full queue, the oldest message is dropped.
    static let messageLimit = 1_000

    private var asksForListeners = false
    private var listeners: [ScopeID: Set<NodeID>] = [:]
    /// The devices that started (true) or stopped (false) listening since the signals were last sent.
    private var changes: [ScopeID: [NodeID: Bool]] = [:]
    private var checks: Set<ScopeID> = []
    private var moves: [ScopeID: Int64] = [:]
    private var imports: [ScopeID: ByteBuffer] = [:]
    private var messages = CircularBuffer<Signal>()

    var isEmpty: Bool {
        !asksForListeners && listeners.isEmpty && changes.isEmpty && checks.isEmpty && moves.isEmpty
            && imports.isEmpty && messages.isEmpty
    }

    mutating func add(_ signal: Signal) {
        switch signal {
        case .presenceRequest: asksForListeners = true
        case .presence(let scope, let devices):
            listeners[scope] = devices
            changes[scope] = nil
        case .joined(let scope, let device): change(scope, device, isListening: true)
        case .left(let scope, let device): change(scope, device, isListening: false)
        case .sessionsChanged(let scope): checks.insert(scope)
        case .committed(let scope, let sequence): moves[scope] = max(moves[scope] ?? 0, sequence)
        case .importProgress(let scope, let progress): imports[scope] = progress
        case .message:
            if messages.count == SignalQueue.messageLimit { messages.removeFirst() }
            messages.append(signal)
        }
    }

    private mutating func change(_ scope: ScopeID, _ device: NodeID, isListening: Bool) {
        guard listeners[scope] != nil else {
            changes[scope, default: [:]][device] = isListening
            return
        }
        if isListening { listeners[scope]?.insert(device) } else { listeners[scope]?.remove(device) }
    }

    /// Removes and returns all signals. Signals about listeners come first, so that the receivers know of new listeners before
    /// they receive the messages for them.
    mutating func take() -> [Signal] {
        var signals: [Signal] = asksForListeners ? [.presenceRequest] : []
        signals += listeners.map { .presence($0.key, $0.value) }
        for (scope, devices) in changes {
            signals += devices.map { $0.value ? .joined(scope, $0.key) : .left(scope, $0.key) }
        }
        signals += checks.map { .sessionsChanged($0) }
        signals += moves.map { .committed($0.key, $0.value) }
        signals += imports.map { .importProgress($0.key, $0.value) }
        signals += messages
        self = SignalQueue()
        return signals
    }
}
