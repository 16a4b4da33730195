import HesperModel
import HesperStore

/// Data of a scope that a transaction has read after it locked the scope's row. Until the transaction ends, no other transaction
/// can change the scope.
struct LockedScopeState {
    private(set) var locked: LockedScope
    /// The `number` of the scope's most recent parcel in the table `edits`.
    private(set) var lastEdit: Int64
    /// The prefetched objects. When the transaction writes an object, the entry of the object is removed. If the state in an entry
    /// is nil, the object does not exist.
    fileprivate(set) var prefetched: [UniqueID: PrefetchedObject] = [:]

    struct PrefetchedObject {
        let state: ObjectState?
        /// The size of the object's body in bytes.
        let bytes: Int
    }

    /// Records that the scope has a revoked device.
    mutating func hasRevocation() {
        locked.hasRevocations = true
    }

    /// Updates the state with the changes that the transaction is about to write.
    mutating func advance(to writing: RowChanges, lastEdit: Int64, parcelBytes: Int) {
        locked.head = writing.head
        locked.greatestClock = writing.greatestClock
        locked.serverClock = writing.serverClock
        locked.storage.parcelBytes += Int64(parcelBytes)
        self.lastEdit = lastEdit
        guard !prefetched.isEmpty else { return }
        for object in writing.objects { prefetched[object.entity.uniqueID] = nil }
        for deletion in writing.deletions { prefetched[deletion.deleted.uniqueID] = nil }
    }
}

extension PostgresTransaction {
    /// The maximum number of prefetched objects. All of them are in memory at the same time.
    private static let prefetchLimit = 1_000
    /// The maximum total size of the bodies of prefetched objects, in bytes.
    private static let prefetchBytes = 32 << 20

    /// Locks the scopes and reads the objects in one round trip. Each scope has a statement of its own that reads its objects.
    /// This statement starts after the scope has been locked, so it reads all changes that were committed before the lock was
    /// acquired.
    func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws {
        var scopes: [ScopeID] = []
        var objects: [ScopeID: Set<UniqueID>] = [:]
        var left = PostgresTransaction.prefetchLimit
        for need in needs where lockedScopes[need.scope] == nil {
            if objects[need.scope] == nil { scopes.append(need.scope) }
            let fits = need.objects.count <= left
            objects[need.scope, default: []].formUnion(fits ? need.objects : [])
            if fits { left -= need.objects.count }
        }
        var statements: [(sql: String, arguments: [PostgresValue])] = []
        let share = PostgresTransaction.prefetchBytes / max(scopes.count, 1)
        for scope in scopes {
            statements.append((PushStatements.lock, [.scope(scope)]))
            statements.append(
                (PushStatements.states, [.scope(scope), .uuidArray(Array(objects[scope] ?? [])), .int(share)]))
        }
        let results = try connection.results(statements)
        for (index, scope) in scopes.enumerated() where results[2 * index].rowCount > 0 {
            var state = try results[2 * index].row(0) { try $0.lockedScopeState(scope) }
            var prefetched: [UniqueID: LockedScopeState.PrefetchedObject] = [:]
            for id in objects[scope] ?? [] { prefetched[id] = LockedScopeState.PrefetchedObject(state: nil, bytes: 0) }
            let large = try PostgresSnapshot.read(results[2 * index + 1]) { id, state, bytes in
                prefetched[id] = LockedScopeState.PrefetchedObject(state: state, bytes: bytes)
            }
            for id in large { prefetched[id] = nil }
            state.prefetched = prefetched
            lockedScopes[scope] = state
        }
    }
}

extension Row {
    /// Reads a row that ``PushStatements/lock`` returned.
    func lockedScopeState(_ scope: ScopeID) throws -> LockedScopeState {
        LockedScopeState(
            locked: LockedScope(
                head: ScopeHead(scope: scope, sequence: integer(0), digest: try digest(1)),
                greatestClock: clockIfAny(2), serverClock: clockIfAny(3), hasRevocations: bool(5),
                restoredSequence: integerIfAny(6), storage: storage(from: 7)),
            lastEdit: integer(4))
    }
}
