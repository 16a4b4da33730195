import HesperModel

/// Undoes the changes of lost devices in a series of small transactions. Each transaction stores the progress, so that any server
/// can continue after a crash.
public struct Revoker: Sendable {
    private let store: any Store
    private let queue: PushQueue
    private let now: @Sendable () -> Timestamp

    /// The time between two polls of the database. Polls are necessary because another server may have recorded a revocation.
    public static let pause = Duration.seconds(10)
    public static let pauseAfterFailure = Duration.seconds(60)
    /// The maximum number of objects that are examined in one step.
    static let examined = 1_000
    /// The maximum number of objects that are changed in one transaction. If an attachment is moved back from one note to another,
    /// only the note that receives it is counted.
    static let batch = 100
    /// The size of a step, in bytes. A step ends when the execution of its plans would load and write at least this number of
    /// bytes.
    static let bytes = 4 << 20
    /// The maximum number of revocations that are read from the database at a time.
    static let revocations = 100

    public init(store: any Store, queue: PushQueue, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.queue = queue
        self.now = now
    }

    /// Executes all unfinished revocations.
    public func work() async throws {
        while true {
            let open = try await store.read { try $0.openRevocations(limit: Revoker.revocations) }
            guard !open.isEmpty else { return }
            for revocation in open {
                while try await step(revocation.node, in: revocation.scope) { try Task.checkCancellation() }
            }
        }
    }

    /// Processes the next objects of one revocation in one transaction.
    /// - Returns: whether there may be more objects to process.
    public func step(_ node: NodeID, in scope: ScopeID) async throws -> Bool {
        let step = try await store.read { snapshot -> RevocationStep? in
            guard let revocation = try snapshot.revocation(of: node, in: scope), revocation.finishDate == nil,
                let moment = revocation.moment
            else { return nil }
            return try RevocationStep(revocation, since: moment, in: snapshot)
        }
        guard let step else { return false }
        do {
            try await Scope(scope, queue: queue, installation: store.installation, now: now).apply(step)
            return true
        } catch let problem as Problem where problem.slug == .unauthenticated {
            // The account was deleted, so there is nothing left to undo.
            return false
        }
    }
}
