import HesperModel

/// Who listens on other servers, as far as these have said so. A server that is killed takes nothing back: so what is not
/// said again in time is forgotten.
struct Elsewhere {
    /// The time after which presence that is not repeated is forgotten, in seconds; servers repeat theirs every ``EventHub/beat``.
    static let timeout = 60

    private struct Presence {
        var devices: Set<NodeID>
        /// The second in which it was heard of last.
        var heard: Int
    }

    private var scopes: [ScopeID: [ServerID: Presence]] = [:]

    /// All devices that listen to a scope on any other server.
    func devices(of scope: ScopeID) -> Set<NodeID> {
        guard let servers = scopes[scope] else { return [] }
        return servers.values.reduce(into: []) { $0.formUnion($1.devices) }
    }

    func hasListeners(to scope: ScopeID) -> Bool { scopes[scope] != nil }

    /// What came of a word from another server.
    enum Change { case none, some, first }

    /// Changes who listens on a server.
    /// - Returns: `first` if nobody did there before; `some` if others do than before.
    mutating func change(
        _ scope: ScopeID, on server: ServerID, at second: Int, _ body: (inout Set<NodeID>) -> Void
    ) -> Change {
        let before = scopes[scope]?[server]?.devices ?? []
        var devices = before
        body(&devices)
        scopes[scope, default: [:]][server] =
            devices.isEmpty ? nil : Presence(devices: devices, heard: second)
        if scopes[scope]?.isEmpty == true { scopes[scope] = nil }
        if devices == before { return .none }
        return before.isEmpty ? .first : .some
    }

    /// Forgets what was not said again in time.
    /// - Returns: the scopes where somebody was forgotten.
    mutating func expire(at second: Int) -> [ScopeID] {
        var changed: [ScopeID] = []
        for (scope, servers) in scopes {
            let living = servers.filter { second - $0.value.heard < Elsewhere.timeout }
            guard living.count < servers.count else { continue }
            changed.append(scope)
            scopes[scope] = living.isEmpty ? nil : living
        }
        return changed
    }
}

/// Where scopes went that nobody else was told about, as nobody was known to listen: whoever turns out to listen by then
/// had begun before that commit, perhaps, and is told after all.
struct RecentMoves {
    /// How many seconds a move is kept at least.
    static let seconds = 10
    /// How many are kept at most, twice.
    static let limit = 50_000

    private var (current, previous): ([ScopeID: Int64], [ScopeID: Int64]) = ([:], [:])

    subscript(scope: ScopeID) -> Int64? { current[scope] ?? previous[scope] }

    mutating func keep(_ head: ScopeHead) {
        if current.count >= RecentMoves.limit { turn() }
        current[head.scope] = max(current[head.scope] ?? 0, head.sequence)
    }

    /// To be called every ``seconds``.
    mutating func turn() { (current, previous) = ([:], current) }
}
