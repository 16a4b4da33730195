import HesperModel

/// The listeners on other servers, as far as these have announced them. A server that is killed does not announce the end of its
/// listeners, so an announcement expires unless it is repeated.
struct RemoteListeners {
    /// The time after which an announcement expires, in seconds. Servers repeat it every ``EventHub/presenceInterval``.
    static let timeout = 60

    private struct Presence {
        var devices: Set<NodeID>
        /// The second of the latest announcement.
        var second: Int
    }

    private var scopes: [ScopeID: [ServerID: Presence]] = [:]

    /// All devices that listen to a scope on other servers.
    func devices(of scope: ScopeID) -> Set<NodeID> {
        guard let servers = scopes[scope] else { return [] }
        return servers.values.reduce(into: []) { $0.formUnion($1.devices) }
    }

    func hasListeners(to scope: ScopeID) -> Bool { scopes[scope] != nil }

    /// The effect of an announcement.
    enum Change { case none, some, first }

    /// Changes the listeners of a scope on a server.
    /// - Returns: `first` if the server had no listeners of the scope before; `some` if they changed.
    mutating func change(
        _ scope: ScopeID, on server: ServerID, at second: Int, _ body: (inout Set<NodeID>) -> Void
    ) -> Change {
        let before = scopes[scope]?[server]?.devices ?? []
        var devices = before
        body(&devices)
        scopes[scope, default: [:]][server] =
            devices.isEmpty ? nil : Presence(devices: devices, second: second)
        if scopes[scope]?.isEmpty == true { scopes[scope] = nil }
        if devices == before { return .none }
        return before.isEmpty ? .first : .some
    }

    /// Removes announcements that were not repeated in time.
    /// - Returns: the scopes in which listeners were removed.
    mutating func expire(at second: Int) -> [ScopeID] {
        var changed: [ScopeID] = []
        for (scope, servers) in scopes {
            let current = servers.filter { second - $0.value.second < RemoteListeners.timeout }
            guard current.count < servers.count else { continue }
            changed.append(scope)
            scopes[scope] = current.isEmpty ? nil : current
        }
        return changed
    }
}
