import HesperModel

/// Recent commits that were not announced to other servers, because no other server had announced a listener of the scope. Another
/// server may register a listener before such a commit but announce the listener only after the commit. When that announcement
/// arrives, this server announces the commit.
struct RecentCommits {
    /// The interval in seconds at which ``rotate()`` is called. A commit is kept for at least this time, unless ``limit`` is
    /// exceeded.
    static let seconds = 10
    /// The maximum number of scopes in each of the two generations, `current` and `previous`.
    static let limit = 50_000

    private var (current, previous): ([ScopeID: Int64], [ScopeID: Int64]) = ([:], [:])

    subscript(scope: ScopeID) -> Int64? { current[scope] ?? previous[scope] }

    mutating func record(_ head: ScopeHead) {
        if current.count >= RecentCommits.limit { rotate() }
        current[head.scope] = max(current[head.scope] ?? 0, head.sequence)
    }

    /// Removes the commits in `previous`, and moves the commits in `current` there. Must be called every ``seconds``.
    mutating func rotate() { (current, previous) = ([:], current) }
}
