import HesperModel

/// The listeners that other servers have announced. A server that is killed cannot announce that its listeners have ended.
/// Therefore an announcement expires if it is not repeated.
struct RemoteListeners {
    /// The time after which an announcement expires, in seconds. Servers repeat their announcements every
    /// ``EventHub/presenceInterval`` seconds.
    static let timeout = 60

    private struct Presence {
        var devices: Set<NodeID>
        /// The time at which the server most recently announced its listeners of the scope, as counted by ``EventHub/tick()``.
        var second: Int
    }

    private var scopes: [ScopeID: [ServerID: Presence]] = [:]

    /// All devices that listen to a scope on other servers.
    func devices(of scope: ScopeID) -> Set<NodeID> {
        guard let servers = scopes[scope] else { return [] }
        return servers.values.reduce(into: []) { $0.formUnion($1.devices) }
    }

    func hasListeners(to scope: ScopeID) -> Bool { scopes[scope] != nil }

    /// How an announcement changed the set of devices that listen to a scope on another server. `none` means that the set did not
    /// change, `first` that the set was empty before, and `some` any other change.
    enum Change { case none, some, first }

    /// Changes the listeners of a scope on one server.
    /// - Returns: `first` if the server has listeners now and had none before, `some` for any other change, and `none` if nothing
    ///   has changed.
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

    /// Removes announcements that have expired.
    /// - Returns: the scopes whose listeners have changed.
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
