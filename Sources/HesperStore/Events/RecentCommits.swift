import HesperModel

/// Recent commits of which other servers were not notified, because they had announced no listener of the scope. A listener whose
/// announcement was still under way during the commit is notified when the announcement arrives.
struct RecentCommits {
    /// The minimum time for which a commit is recorded, in seconds.
    static let seconds = 10
    /// The maximum number of scopes in each of the two generations.
    static let limit = 50_000

    private var (current, previous): ([ScopeID: Int64], [ScopeID: Int64]) = ([:], [:])

    subscript(scope: ScopeID) -> Int64? { current[scope] ?? previous[scope] }

    mutating func record(_ head: ScopeHead) {
        if current.count >= RecentCommits.limit { rotate() }
        current[head.scope] = max(current[head.scope] ?? 0, head.sequence)
    }

    /// Drops the older generation. To be called every ``seconds``.
    mutating func rotate() { (current, previous) = ([:], current) }
}
