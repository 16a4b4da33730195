import HesperModel

/// Puts back what lost devices pushed, in small transactions, one after the other: whoever comes after a crash, or beside it on
/// another server, goes on from what the last of them kept.
public struct Revoker: Sendable {
    private let store: any Store
    private let queue: PushQueue
    private let now: @Sendable () -> Timestamp

    /// Between two looks at the store, where another server may have begun something.
    public static let pause = Duration.seconds(10)
    public static let pauseAfterFailure = Duration.seconds(60)
    /// Objects that are passed by in one step.
    static let reach = 1_000
    /// Objects that are put back in one transaction, but for those from which they take an attachment again.
    static let batch = 100
    /// Bytes of values that are put back in one transaction, but for the last object's.
    static let bytes = 4 << 20
    /// Revocations that are taken up at once.
    static let revocations = 100

    public init(store: any Store, queue: PushQueue, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.queue = queue
        self.now = now
    }

    /// Does all that is open; returns when nothing is.
    public func work() async throws {
        while true {
            let open = try await store.read { try $0.openRevocations(limit: Revoker.revocations) }
            guard !open.isEmpty else { return }
            for revocation in open {
                while try await step(revocation.node, in: revocation.scope) { try Task.checkCancellation() }
            }
        }
    }

    /// The next objects of one revocation, in one transaction.
    /// - Returns: whether there is more to do.
    public func step(_ node: NodeID, in scope: ScopeID) async throws -> Bool {
        let look = try await store.read { snapshot -> RevocationStep? in
            guard let revocation = try snapshot.revocation(of: node, in: scope), revocation.finishDate == nil,
                let moment = revocation.moment
            else { return nil }
            return try RevocationStep(revocation, since: moment, in: snapshot)
        }
        guard let look else { return false }
        do {
            try await Scope(scope, queue: queue, installation: store.installation, now: now).putBack(look)
            return true
        } catch let problem as Problem where problem.slug == .unauthenticated {
            // The account has gone, and all of it.
            return false
        }
    }
}
