import HesperModel
import HesperStore

extension SQLiteSnapshot {
    func search(_ search: Search, in scope: ScopeID) throws -> [Note] { [] }
    func inconsistencies(in scope: ScopeID, _ body: (String) -> Void) throws {}
}
extension SQLiteTransaction {
    func indexTerms(of scope: ScopeID, limit: Int) throws -> Bool { true }
    func scopesToIndex(limit: Int) throws -> [ScopeID] { [] }
}
