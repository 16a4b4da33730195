import HesperStore
import NIOConcurrencyHelpers

/// The scopes whose listeners must be notified of commits by other processes. Several tasks add scopes. One loop takes the scopes,
/// reads the commits from the store and notifies the listeners.
final class PendingRefreshes: Sendable {
    enum Scopes: Sendable, Equatable {
        case only(Set<ScopeID>)
        /// All scopes that have listeners.
        case all
    }

    /// Fires when scopes are added.
    let trigger = Trigger()
    private let pending = NIOLockedValueBox(Scopes.only([]))

    func add(_ scopes: Scopes) {
        pending.withLockedValue { pending in
            guard case .only(let before) = pending, case .only(let more) = scopes else {
                pending = .all
                return
            }
            pending = .only(before.union(more))
        }
        trigger.fire()
    }

    /// Removes and returns the pending scopes.
    func take() -> Scopes {
        pending.withLockedValue { pending in
            defer { pending = .only([]) }
            return pending
        }
    }
}
