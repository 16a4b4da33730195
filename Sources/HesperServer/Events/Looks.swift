import HesperStore
import NIOConcurrencyHelpers

/// Scopes whose listeners are to be looked up in the store: asked for by several, looked up by one.
final class Looks: Sendable {
    enum Where: Sendable, Equatable {
        case scopes(Set<ScopeID>)
        /// Wherever somebody listens.
        case everywhere
    }

    /// Fired each time there is somewhere to look.
    let trigger = Trigger()
    private let wanted = NIOLockedValueBox(Where.scopes([]))

    func ask(_ place: Where) {
        wanted.withLockedValue { wanted in
            guard case .scopes(let before) = wanted, case .scopes(let more) = place else {
                wanted = .everywhere
                return
            }
            wanted = .scopes(before.union(more))
        }
        trigger.fire()
    }

    /// Where to look by now.
    func take() -> Where {
        wanted.withLockedValue { wanted in
            defer { wanted = .scopes([]) }
            return wanted
        }
    }
}
