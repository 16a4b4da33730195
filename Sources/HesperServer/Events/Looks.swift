import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// Scopes whose listeners are to be looked after in the store: asked for by several, looked at by one.
final class Looks: Sendable {
    enum Where: Sendable, Equatable {
        case scopes(Set<ScopeID>)
        /// Wherever somebody listens.
        case everywhere
    }

    /// Gives something each time there is somewhere to look.
    let bell: AsyncStream<Void>
    private let ringer: AsyncStream<Void>.Continuation
    private let wanted = NIOLockedValueBox(Where.scopes([]))

    init() { (bell, ringer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func ask(_ place: Where) {
        wanted.withLockedValue { wanted in
            guard case .scopes(let before) = wanted, case .scopes(let more) = place else {
                wanted = .everywhere
                return
            }
            wanted = .scopes(before.union(more))
        }
        ringer.yield()
    }

    /// Where to look by now.
    func take() -> Where {
        wanted.withLockedValue { wanted in
            defer { wanted = .scopes([]) }
            return wanted
        }
    }
}
