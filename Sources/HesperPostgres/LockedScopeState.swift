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

    var scope: ScopeID { locked.head.scope }

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

    /// Locks the scopes and reads the objects in one round trip. The statement that reads the objects starts after all scopes have been
    /// locked, so it reads all changes that were committed before the locks were acquired.
    func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws {
        var objects: [ScopeID: Set<UniqueID>] = [:]
        var left = PostgresTransaction.prefetchLimit
        for need in needs where lockedScopes[need.scope] == nil {
            let fits = need.objects.count <= left
            objects[need.scope, default: []].formUnion(fits ? need.objects : [])
            if fits { left -= need.objects.count }
        }
        guard !objects.isEmpty else { return }
        let wanted = objects.flatMap { scope, ids in ids.map { (scope, $0) } }
        let results = try connection.results([
            (PushStatements.lock, [.int8Array(objects.keys.map(\.rawValue))]),
            (
                PushStatements.states,
                [
                    .int8Array(wanted.map(\.0.rawValue)), .uuidArray(wanted.map(\.1)),
                    .int(PostgresTransaction.prefetchBytes),
                ]
            ),
        ])
        var states: [ScopeID: LockedScopeState] = [:]
        for index in 0..<results[0].rowCount {
            var state = try results[0].row(index) { try $0.lockedScopeState() }
            for id in objects[state.scope] ?? [] {
                state.prefetched[id] = LockedScopeState.PrefetchedObject(state: nil, bytes: 0)
            }
            states[state.scope] = state
        }
        let large = try PostgresSnapshot.read(results[1]) { scope, id, state, bytes in
            states[scope]?.prefetched[id] = LockedScopeState.PrefetchedObject(state: state, bytes: bytes)
        }
        for (scope, id) in large { states[scope]?.prefetched[id] = nil }
        lockedScopes.merge(states) { $1 }
    }
}

extension Row {
    /// Reads a row that ``PushStatements/lock`` returned.
    func lockedScopeState() throws -> LockedScopeState {
        LockedScopeState(
            locked: LockedScope(
                head: ScopeHead(scope: scope(10), sequence: integer(0), digest: try digest(1)),
                greatestClock: clockIfAny(2), serverClock: clockIfAny(3), hasRevocations: bool(5),
                restoredSequence: integerIfAny(6), storage: storage(from: 7)),
            lastEdit: integer(4))
    }
}
