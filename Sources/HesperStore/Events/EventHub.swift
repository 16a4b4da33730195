import HesperModel
import NIOConcurrencyHelpers
import NIOCore

/// Who listens to which scope. It wakes them when something has committed there and carries what devices say to each other,
/// which it keeps nowhere (protocol.md, Events). Where several servers share a store, their hubs tell each other.
///
///     let listener = try hub.listen(to: scope, as: node, ping: 20)
///     let news = await listener.next()
public final class EventHub: Sendable {
    /// Streams of one account at once; whoever comes then is told to come again.
    public static let listenersPerScope = 2_000
    /// Streams of one device at once: of more, the oldest ends, as it is one whose end the network has not told.
    public static let listenersPerDevice = 8
    /// What whoever comes too many is told to wait, in seconds.
    static let wait: Int64 = 30
    /// How often all who listen here are named again to the other servers, in seconds.
    static let beat = 20
    /// Scopes that are looked at in one snapshot.
    private static let scopesOfLook = 200

    private struct State {
        var rooms: [ScopeID: Room] = [:]
        var elsewhere = Elsewhere()
        var recent = RecentMoves()
        var second = 0
        /// Whether another server has asked who listens since all were told, and when they were.
        var isAsked = false
        var toldSecond: Int?

        /// Wakes the listeners of this server.
        func wake(_ scope: ScopeID, _ sequence: Int64) {
            guard let room = rooms[scope] else { return }
            for mailbox in room.mailboxes { mailbox.announce(sequence) }
        }

        /// Hands a message to the streams of this server.
        func put(_ message: ByteBuffer, from device: NodeID, in scope: ScopeID) {
            for (other, mailboxes) in rooms[scope]?.devices ?? [:] where other != device {
                for mailbox in mailboxes { mailbox.put(message) }
            }
        }

        /// Has the listeners of a scope know that there are more of them, or less.
        mutating func tellCount(in scope: ScopeID) {
            guard rooms[scope] != nil else { return }
            rooms[scope]?.tell(elsewhere.devices(of: scope))
        }
    }

    private let state = NIOLockedValueBox(State())
    /// How other servers are told. What it is given in the lock goes out in the order in which it happened.
    private let signals: (any Signals)?

    /// - Parameter signals: of the store, if other servers share it.
    public init(signals: (any Signals)? = nil) { self.signals = signals }

    // MARK: Coming and going

    /// A place to hear of what happens in a scope, until nobody holds it any more.
    /// - Parameter ping: after how many seconds without news there is a sign of life.
    /// - Throws: ``Problem`` `too-many-requests`.
    public func listen(to scope: ScopeID, as device: NodeID, ping: Int) throws(Problem) -> Listener {
        let mailbox = Mailbox(ping: ping)
        let isFree = state.withLockedValue { state in
            var room = state.rooms[scope] ?? Room()
            guard room.count < EventHub.listenersPerScope else { return false }
            var mailboxes = room.devices[device] ?? []
            let isNew = mailboxes.isEmpty
            if mailboxes.count == EventHub.listenersPerDevice { mailboxes.removeFirst().end(.replaced) }
            mailboxes.append(mailbox)
            room.devices[device] = mailboxes
            let elsewhere = state.elsewhere.devices(of: scope)
            mailbox.tell(others: room.others(elsewhere))
            if isNew {
                if room.devices.count > 1 { room.tell(elsewhere) }
                signals?.send([.joined(scope, device)])
            }
            state.rooms[scope] = room
            return true
        }
        guard isFree else {
            throw Problem(
                .tooManyRequests, "\(EventHub.listenersPerScope) streams of this account are open: close some.",
                context: ["retryAfter": .integer(EventHub.wait), "limit": .integer(Int64(EventHub.listenersPerScope))])
        }
        return Listener(mailbox, of: device, in: scope, hub: self)
    }

    /// What ``Listener`` does at its end.
    func remove(_ mailbox: Mailbox, of device: NodeID, in scope: ScopeID) {
        state.withLockedValue { state in
            guard var room = state.rooms[scope] else { return }
            room.devices[device]?.removeAll { $0 === mailbox }
            if room.devices[device]?.isEmpty == true {
                room.devices[device] = nil
                room.tell(state.elsewhere.devices(of: scope))
                signals?.send([.left(scope, device)])
            }
            state.rooms[scope] = room.devices.isEmpty ? nil : room
        }
    }

    /// Whether nobody listens on this server.
    public var isEmpty: Bool { state.withLockedValue(\.rooms.isEmpty) }

    /// How many streams are open on this server.
    public var listenerCount: Int { state.withLockedValue { $0.rooms.values.reduce(0) { $0 + $1.count } } }

    // MARK: What happens

    /// Wakes the listeners of scopes that have moved on: once for each commit, however many pushes it has.
    public func announce(_ heads: [ScopeHead]) {
        state.withLockedValue { state in
            for head in heads { state.wake(head.scope, head.sequence) }
            guard let signals else { return }
            // Where nobody listens, nobody is told: most commits are of such scopes.
            let listened = heads.filter { state.elsewhere.hasListeners(to: $0.scope) }
            if !listened.isEmpty { signals.send(listened.map { .committed($0.scope, $0.sequence) }) }
            for head in heads where !state.elsewhere.hasListeners(to: head.scope) { state.recent.keep(head) }
        }
    }

    /// Carries a message to the streams of all other devices.
    /// - Parameter message: one line of JSON.
    /// - Returns: how many devices that are.
    public func send(_ message: ByteBuffer, from device: NodeID, in scope: ScopeID) -> Int {
        state.withLockedValue { state in
            state.put(message, from: device, in: scope)
            let elsewhere = state.elsewhere.devices(of: scope).subtracting([device])
            if !elsewhere.isEmpty { signals?.send([.message(scope, from: device, message)]) }
            let here = state.rooms[scope]?.devices ?? [:]
            return elsewhere.count { here[$0] == nil } + here.count - (here[device] == nil ? 0 : 1)
        }
    }

    /// Ends the streams of devices that were signed out, on all servers.
    public func signOut(of scope: ScopeID, where isSignedOut: (NodeID) -> Bool) {
        end(scope, where: isSignedOut)
        signals?.send([.sessionsChanged(scope)])
    }

    /// The same on this server.
    private func end(_ scope: ScopeID, where isSignedOut: (NodeID) -> Bool) {
        state.withLockedValue { state in
            for (device, mailboxes) in state.rooms[scope]?.devices ?? [:] where isSignedOut(device) {
                for mailbox in mailboxes { mailbox.end(.signedOut) }
            }
        }
    }

    /// Has a second pass: signs of life, and counts that were held back.
    public func tick() {
        state.withLockedValue { state in
            state.second += 1
            if signals != nil { tickOthers(&state) }
            for scope in Array(state.rooms.keys) { state.rooms[scope]?.tick(state.elsewhere.devices(of: scope)) }
        }
    }

    // MARK: Signals

    /// Takes in what another server says. Of a ``Signal/check(_:)`` the caller asks the store.
    public func hear(_ signal: Signal, from server: ServerID) {
        state.withLockedValue { state in
            switch signal {
            case .committed(let scope, let sequence): state.wake(scope, sequence)
            case .message(let scope, let device, let message): state.put(message, from: device, in: scope)
            case .check: break
            case .presence(let scope, let devices): change(&state, scope, server) { $0 = devices }
            case .joined(let scope, let device): change(&state, scope, server) { $0.insert(device) }
            case .left(let scope, let device): change(&state, scope, server) { $0.remove(device) }
            case .presenceRequest:
                state.isAsked = true
                // When all servers ask at once, as the database is back, each is not answered by all.
                if state.toldSecond != state.second { tellPresence(&state) }
            }
        }
    }

    private func change(
        _ state: inout State, _ scope: ScopeID, _ server: ServerID, _ body: (inout Set<NodeID>) -> Void
    ) {
        let change = state.elsewhere.change(scope, on: server, at: state.second, body)
        if change != .none { state.tellCount(in: scope) }
        if change == .first, let sequence = state.recent[scope] { signals?.send([.committed(scope, sequence)]) }
    }

    /// Tells the other servers all who listen here, and asks who listens there: for when signals may have been missed.
    public func exchangePresence() {
        state.withLockedValue { state in
            signals?.send([.presenceRequest])
            tellPresence(&state)
        }
    }

    private func tellPresence(_ state: inout State) {
        state.isAsked = false
        state.toldSecond = state.second
        signals?.send(state.rooms.map { .presence($0.key, Set($0.value.devices.keys)) })
    }

    private func tickOthers(_ state: inout State) {
        if state.isAsked || state.second.isMultiple(of: EventHub.beat) { tellPresence(&state) }
        if state.second.isMultiple(of: RecentMoves.seconds) { state.recent.turn() }
        for scope in state.elsewhere.expire(at: state.second) { state.tellCount(in: scope) }
    }

    /// The move of a scope that is kept for servers whose listeners may turn up, for tests.
    func recentMove(of scope: ScopeID) -> Int64? { state.withLockedValue { $0.recent[scope] } }

    // MARK: Looking

    /// Looks at the store for what nobody announced: commits of other processes, devices and accounts that are gone.
    /// - Parameter scopes: where to look; nil for wherever somebody listens.
    public func refresh(_ scopes: Set<ScopeID>? = nil, from store: any Store) async throws {
        // Whoever comes while the store is being looked at is not to be sought in it.
        let listening = state.withLockedValue { state in
            state.rooms.filter { scopes?.contains($0.key) ?? true }.mapValues { Set($0.devices.keys) }
        }
        var left = Array(listening.keys)[...]
        while !left.isEmpty {
            let some = Array(left.prefix(EventHub.scopesOfLook))
            left = left.dropFirst(EventHub.scopesOfLook)
            let found = try await store.read { try $0.scopeStatuses(of: some) }
            for scope in some {
                if let sequence = found[scope]?.sequence { state.withLockedValue { $0.wake(scope, sequence) } }
                let gone = (listening[scope] ?? []).subtracting(found[scope]?.devices ?? [])
                if !gone.isEmpty { end(scope) { gone.contains($0) } }
            }
        }
    }

    /// Whether somebody listens to a scope on this server.
    public func hasListeners(to scope: ScopeID) -> Bool { state.withLockedValue { $0.rooms[scope] != nil } }
}
