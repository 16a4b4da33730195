import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func revocations(of nodes: Set<NodeID>, in scope: ScopeID) throws -> [Revocation] {
        try nodes.sorted().compactMap { try revocation(of: $0, in: scope) }
    }
}
