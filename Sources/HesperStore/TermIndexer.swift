import HesperModel

/// Fills the index of terms behind the commits: in the transactions themselves it would halve the rate of writing
/// (storage.md, A transaction).
public struct TermIndexer: Sendable {
    private let store: any Store
    /// Objects a transaction: few, so that pushes do not wait long for the writer.
    static let batch = 200
    static let pause = Duration.milliseconds(500)

    public init(store: any Store) { self.store = store }

    /// Brings one scope's index up to a sequence: what a search does first.
    public func index(_ scope: ScopeID, upTo sequence: Int64) async throws {
        while try await store.read({ try $0.indexedSequence(of: scope) }) < sequence {
            let isDone = try await store.write { try $0.indexTerms(of: scope, limit: TermIndexer.batch) }
            if isDone { return }
        }
    }

    /// Follows the commits of this process and of others until it is cancelled.
    /// - Parameter failed: told of an error, after which it tries again.
    public func run(failed: @Sendable (any Error) -> Void) async {
        while !Task.isCancelled {
            do {
                // One batch for each scope in turn: a scope with much to index holds up no other.
                for scope in try await store.read({ try $0.scopesToIndex(limit: 64) }) {
                    _ = try await store.write { try $0.indexTerms(of: scope, limit: TermIndexer.batch) }
                }
            } catch {
                if !Task.isCancelled { failed(error) }
            }
            try? await Task.sleep(for: TermIndexer.pause)
        }
    }
}
