import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// Wakes the delivery of webhooks after commits. For an account without webhooks, this adds only one look-up to a commit.
final class WebhookCommits: Sendable {
    /// The scopes whose webhooks may have new events to send.
    let pending = PendingRefreshes()
    private let watched = NIOLockedValueBox<Set<ScopeID>>([])

    /// Called once per commit, with the heads of all scopes that the commit changed.
    func announce(_ heads: [ScopeHead]) {
        let scopes = watched.withLockedValue { watched in heads.map(\.scope).filter(watched.contains) }
        if !scopes.isEmpty { pending.add(.only(Set(scopes))) }
    }

    /// Sets the scopes that have active webhooks. Other scopes are ignored.
    func watch(_ scopes: Set<ScopeID>) { watched.withLockedValue { $0 = scopes } }

    /// Whether there are active webhooks.
    var isWatching: Bool { watched.withLockedValue { !$0.isEmpty } }
}
