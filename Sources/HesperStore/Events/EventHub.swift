import HesperModel
import NIOConcurrencyHelpers
import NIOCore

/// Registers the listeners of each scope and wakes them after commits. It also forwards messages between devices; messages are
/// not stored (protocol.md, Events). The hubs of several servers that share a database exchange signals.
///
///     let listener = try hub.listen(to: scope, as: node, ping: 20)
///     let update = await listener.next()
public final class EventHub: Sendable {
    /// The maximum number of concurrent streams per account. Further requests for streams are refused.
    public static let listenersPerScope = 2_000
    /// The maximum number of concurrent streams per device. If the device opens another stream, its oldest stream is ended,
    /// because the connection of that stream is probably lost.
    public static let listenersPerDevice = 8
    /// The number of seconds after which a client may repeat a refused request (`retryAfter`).
    static let retryAfter: Int64 = 30
    /// The interval, in seconds, at which this server announces all of its listeners again to other servers.
    static let presenceInterval = 20
    /// The number of scopes that ``refresh(_:from:)`` reads in one snapshot.
    private static let scopesPerSnapshot = 200

    private struct State {
        var local: [ScopeID: LocalListeners] = [:]
        var remote = RemoteListeners()
        var recent = RecentCommits()
        /// The number of calls of ``tick()`` so far, which is about the number of seconds since the start.
        var second = 0
        /// Whether another server has requested that this server announce its listeners, and this server has not done so yet.
        var isPresenceRequested = false
        /// The value of `second` when this server most recently announced its listeners; nil before the first announcement.
        var presenceSecond: Int?

        /// Notifies the scope's listeners on this server of a new sequence number.
        func wake(_ scope: ScopeID, _ sequence: Int64) {
            guard let listeners = local[scope] else { return }
            for mailbox in listeners.mailboxes { mailbox.announce(sequence) }
        }

        /// Passes a message from a device to the streams that the scope's other devices have on this server.
        func put(_ message: ByteBuffer, from device: NodeID, in scope: ScopeID) {
            for (other, mailboxes) in local[scope]?.devices ?? [:] where other != device {
                for mailbox in mailboxes { mailbox.put(message) }
            }
        }

        /// Passes the progress of the scope's import to all of its listeners on this server.
        func putImportProgress(_ progress: ByteBuffer, in scope: ScopeID) {
            guard let listeners = local[scope] else { return }
            for mailbox in listeners.mailboxes { mailbox.setImportProgress(progress) }
        }

        /// Sends the number of listening devices to the scope's listeners on this server. Called when this number may have changed.
        mutating func notifyCount(in scope: ScopeID) {
            guard local[scope] != nil else { return }
            local[scope]?.notifyCount(remote.devices(of: scope))
        }
    }

    private let state = NIOLockedValueBox(State())
    /// The connection to other servers; nil if there are none. Signals are sent while the state is locked, so that their order is
    /// the order of the events.
    private let signals: (any Signals)?

    /// - Parameter signals: the signals of the store; nil if no other servers share it.
    public init(signals: (any Signals)? = nil) { self.signals = signals }

    // MARK: Registration

    /// Registers a listener for a scope. The listener is removed when the last reference to it is released.
    /// - Parameter ping: the number of seconds without events after which the listener is woken to send a ping.
    /// - Throws: ``Problem`` `too-many-requests` if the account has too many streams.
    public func listen(to scope: ScopeID, as device: NodeID, ping: Int) throws(Problem) -> Listener {
        let mailbox = Mailbox(ping: ping)
        let isAdded = state.withLockedValue { state in
            var listeners = state.local[scope] ?? LocalListeners()
            guard listeners.count < EventHub.listenersPerScope else { return false }
            var mailboxes = listeners.devices[device] ?? []
            let isNew = mailboxes.isEmpty
            if mailboxes.count == EventHub.listenersPerDevice { mailboxes.removeFirst().end(.replaced) }
            mailboxes.append(mailbox)
            listeners.devices[device] = mailboxes
            let remote = state.remote.devices(of: scope)
            mailbox.setOthers(listeners.others(remote))
            if isNew {
                if listeners.devices.count > 1 { listeners.notifyCount(remote) }
                signals?.send([.joined(scope, device)])
            }
            state.local[scope] = listeners
            return true
        }
        guard isAdded else {
            let limit = EventHub.listenersPerScope
            throw Problem(
                .tooManyRequests,
                "This account has \(limit) open event streams, which is the maximum. Close some of them.",
                context: ["retryAfter": .integer(EventHub.retryAfter), "limit": .integer(Int64(limit))])
        }
        return Listener(mailbox, of: device, in: scope, hub: self)
    }

    /// Removes a listener. ``Listener`` calls this when it is released.
    func remove(_ mailbox: Mailbox, of device: NodeID, in scope: ScopeID) {
        state.withLockedValue { state in
            guard var listeners = state.local[scope] else { return }
            listeners.devices[device]?.removeAll { $0 === mailbox }
            if listeners.devices[device]?.isEmpty == true {
                listeners.devices[device] = nil
                listeners.notifyCount(state.remote.devices(of: scope))
                signals?.send([.left(scope, device)])
            }
            state.local[scope] = listeners.devices.isEmpty ? nil : listeners
        }
    }

    /// Whether this server has no listeners.
    public var isEmpty: Bool { state.withLockedValue(\.local.isEmpty) }

    /// The number of open streams on this server.
    public var listenerCount: Int { state.withLockedValue { $0.local.values.reduce(0) { $0 + $1.count } } }

    // MARK: Events

    /// Wakes the listeners of scopes that have changed. Called once per commit, with the heads of all scopes that the commit
    /// changed.
    public func announce(_ heads: [ScopeHead]) {
        state.withLockedValue { state in
            for head in heads { state.wake(head.scope, head.sequence) }
            guard let signals else { return }
            // No signal is sent for scopes that have no listeners on other servers. Most scopes have none.
            let listened = heads.filter { state.remote.hasListeners(to: $0.scope) }
            if !listened.isEmpty { signals.send(listened.map { .committed($0.scope, $0.sequence) }) }
            for head in heads where !state.remote.hasListeners(to: head.scope) { state.recent.record(head) }
        }
    }

    /// Sends a message to the streams of all other devices of the scope.
    /// - Parameter message: one line of JSON.
    /// - Returns: the number of other devices that are listening.
    public func send(_ message: ByteBuffer, from device: NodeID, in scope: ScopeID) -> Int {
        state.withLockedValue { state in
            state.put(message, from: device, in: scope)
            let remote = state.remote.devices(of: scope).subtracting([device])
            if !remote.isEmpty { signals?.send([.message(scope, from: device, message)]) }
            let local = state.local[scope]?.devices ?? [:]
            return remote.count { local[$0] == nil } + local.count - (local[device] == nil ? 0 : 1)
        }
    }

    /// Sends the progress of the scope's import to all streams of the scope. It replaces an earlier progress that a stream has not
    /// sent yet.
    /// - Parameter progress: one line of JSON.
    public func announceImport(_ progress: ByteBuffer, in scope: ScopeID) {
        state.withLockedValue { state in
            state.putImportProgress(progress, in: scope)
            if state.remote.hasListeners(to: scope) { signals?.send([.importProgress(scope, progress)]) }
        }
    }

    /// Ends the streams of signed-out devices on all servers.
    public func signOut(of scope: ScopeID, where isSignedOut: (NodeID) -> Bool) {
        end(scope, where: isSignedOut)
        signals?.send([.sessionsChanged(scope)])
    }

    /// Ends the streams of signed-out devices on this server.
    private func end(_ scope: ScopeID, where isSignedOut: (NodeID) -> Bool) {
        state.withLockedValue { state in
            for (device, mailboxes) in state.local[scope]?.devices ?? [:] where isSignedOut(device) {
                for mailbox in mailboxes { mailbox.end(.signedOut) }
            }
        }
    }

    /// Sends the pings that are due. If the number of listening devices of a scope has changed, but was not sent because of the
    /// limit of one update per second, it is sent now. Must be called every second.
    public func tick() {
        state.withLockedValue { state in
            state.second += 1
            if signals != nil { tickPresence(&state) }
            for scope in Array(state.local.keys) { state.local[scope]?.tick(state.remote.devices(of: scope)) }
        }
    }

    // MARK: Signals

    /// Processes a signal from another server. For ``Signal/sessionsChanged(_:)``, the caller must call ``refresh(_:from:)``.
    public func receive(_ signal: Signal, from server: ServerID) {
        state.withLockedValue { state in
            switch signal {
            case .committed(let scope, let sequence): state.wake(scope, sequence)
            case .message(let scope, let device, let message): state.put(message, from: device, in: scope)
            case .importProgress(let scope, let progress): state.putImportProgress(progress, in: scope)
            case .sessionsChanged: break
            case .presence(let scope, let devices): change(&state, scope, server) { $0 = devices }
            case .joined(let scope, let device): change(&state, scope, server) { $0.insert(device) }
            case .left(let scope, let device): change(&state, scope, server) { $0.remove(device) }
            case .presenceRequest:
                state.isPresenceRequested = true
                // When the database becomes available again, all servers send this request at the same time. Therefore at most one
                // of these requests is answered immediately in each second. The next tick answers all others together.
                if state.presenceSecond != state.second { sendPresence(&state) }
            }
        }
    }

    private func change(
        _ state: inout State, _ scope: ScopeID, _ server: ServerID, _ body: (inout Set<NodeID>) -> Void
    ) {
        let change = state.remote.change(scope, on: server, at: state.second, body)
        if change != .none { state.notifyCount(in: scope) }
        if change == .first, let sequence = state.recent[scope] { signals?.send([.committed(scope, sequence)]) }
    }

    /// Announces all listeners of this server to the other servers, and requests that the other servers announce their listeners.
    /// Must be called when signals may have been missed.
    public func exchangePresence() {
        state.withLockedValue { state in
            signals?.send([.presenceRequest])
            sendPresence(&state)
        }
    }

    private func sendPresence(_ state: inout State) {
        state.isPresenceRequested = false
        state.presenceSecond = state.second
        signals?.send(state.local.map { .presence($0.key, Set($0.value.devices.keys)) })
    }

    private func tickPresence(_ state: inout State) {
        if state.isPresenceRequested || state.second.isMultiple(of: EventHub.presenceInterval) { sendPresence(&state) }
        if state.second.isMultiple(of: RecentCommits.seconds) { state.recent.rotate() }
        for scope in state.remote.expire(at: state.second) { state.notifyCount(in: scope) }
    }

    /// The sequence number that ``RecentCommits`` contains for a scope. Used by tests.
    func recentCommit(of scope: ScopeID) -> Int64? { state.withLockedValue { $0.recent[scope] } }

    // MARK: Polling

    /// Reads from the database the changes for which this server received no signal: commits of other processes, and deleted
    /// devices and accounts.
    /// - Parameter scopes: the scopes to read; nil for all scopes with listeners on this server.
    public func refresh(_ scopes: Set<ScopeID>? = nil, from store: any Store) async throws {
        // The devices are collected before the read. A device that starts to listen during the read may be missing in the result,
        // and its streams must not be ended.
        let listening = state.withLockedValue { state in
            state.local.filter { scopes?.contains($0.key) ?? true }.mapValues { Set($0.devices.keys) }
        }
        var remaining = Array(listening.keys)[...]
        while !remaining.isEmpty {
            let batch = Array(remaining.prefix(EventHub.scopesPerSnapshot))
            remaining = remaining.dropFirst(EventHub.scopesPerSnapshot)
            let statuses = try await store.read { try $0.scopeStatuses(of: batch) }
            for scope in batch {
                if let sequence = statuses[scope]?.sequence { state.withLockedValue { $0.wake(scope, sequence) } }
                let deleted = (listening[scope] ?? []).subtracting(statuses[scope]?.devices ?? [])
                if !deleted.isEmpty { end(scope) { deleted.contains($0) } }
            }
        }
    }

    /// Whether a scope has listeners on this server.
    public func hasListeners(to scope: ScopeID) -> Bool { state.withLockedValue { $0.local[scope] != nil } }
}
