import HesperModel
import HesperSQL
import HesperStore

extension PostgresSnapshot {
    /// Reads the revocations of all given nodes in one statement.
    func revocations(of nodes: Set<NodeID>, in scope: ScopeID) throws -> [Revocation] {
        try connection.all(
            "\(Revocation.columns) WHERE scope = $1 AND node = ANY ($2)",
            [.scope(scope), .array(.bytes, nodes.map { .node($0) })]
        ) { try $0.revocation() }
    }
}
