import HesperModel
import NIOCore

/// What the hubs of several servers tell each other, and what they look up where nobody tells.
extension EventHub {
    /// How often all who listen here are named again to the other servers, in seconds.
    static let beat = 20
    /// Scopes that are looked at in one snapshot.
    private static let scopesOfLook = 200

    // MARK: Signals

    /// Takes in what another server says. Of a ``Signal/check(_:)`` the caller asks the store.
    public func hear(_ signal: Signal, from server: ServerID) {
        state.withLockedValue { state in
            switch signal {
            case .moved(let scope, let sequence): state.wake(scope, sequence)
            case .said(let scope, let device, let message): state.put(message, from: device, in: scope)
            case .check: break
            case .here(let scope, let devices): change(&state, scope, server) { $0 = devices }
            case .came(let scope, let device): change(&state, scope, server) { $0.insert(device) }
            case .went(let scope, let device): change(&state, scope, server) { $0.remove(device) }
            case .who:
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
        if change == .first, let sequence = state.recent[scope] { signals?.send([.moved(scope, sequence)]) }
    }

    /// Tells the other servers all who listen here, and asks who listens there: for when signals may have been missed.
    public func meetOthers() {
        state.withLockedValue { state in
            signals?.send([.who])
            tellPresence(&state)
        }
    }

    private func tellPresence(_ state: inout State) {
        state.isAsked = false
        state.toldSecond = state.second
        signals?.send(state.rooms.map { .here($0.key, Set($0.value.devices.keys)) })
    }

    func tickOthers(_ state: inout State) {
        if state.isAsked || state.second.isMultiple(of: EventHub.beat) { tellPresence(&state) }
        if state.second.isMultiple(of: RecentMoves.seconds) { state.recent.turn() }
        for scope in state.elsewhere.expire(at: state.second) { state.tellCount(in: scope) }
    }

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
            let found = try await store.read { try $0.standings(of: some) }
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
