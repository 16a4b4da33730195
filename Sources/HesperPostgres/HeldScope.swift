import HesperModel
import HesperStore

/// What a transaction knows of a scope whose row it has locked: nobody else changes it before the end.
struct HeldScope {
    private(set) var locked: LockedScope
    /// The number of its last parcel.
    private(set) var lastEdit: Int64
    /// Objects that were asked for early, and what stands of each, if anything does; without what was written since.
    fileprivate(set) var foreseen: [UniqueID: Foreseen] = [:]

    struct Foreseen {
        let state: ObjectState?
        /// Of its body.
        let bytes: Int
    }

    /// Notes that a device of it was revoked.
    mutating func hasRevocation() {
        locked.hasRevocations = true
    }

    /// Keeps what is about to be written.
    mutating func advance(to writing: RowChanges, lastEdit: Int64, parcelBytes: Int) {
        locked.head = writing.head
        locked.greatestClock = writing.greatestClock
        locked.serverClock = writing.serverClock
        locked.storage.parcelBytes += Int64(parcelBytes)
        self.lastEdit = lastEdit
        guard !foreseen.isEmpty else { return }
        for object in writing.objects { foreseen[object.entity.uniqueID] = nil }
        for deletion in writing.deletions { foreseen[deletion.deleted.uniqueID] = nil }
    }
}

extension PostgresTransaction {
    /// Objects that are asked for early at most, and bytes of their bodies: all are in memory at once.
    private static let foresight = 1_000
    private static let foresightBytes = 32 << 20

    /// Locks all the scopes and reads the objects in one round trip. They are read by statements of their own, which begin
    /// when the lock is held: each sees what was committed before it.
    func prefetch(_ needs: [(scope: ScopeID, objects: [UniqueID])]) throws {
        var scopes: [ScopeID] = []
        var objects: [ScopeID: Set<UniqueID>] = [:]
        var left = PostgresTransaction.foresight
        for need in needs where held[need.scope] == nil {
            if objects[need.scope] == nil { scopes.append(need.scope) }
            let fits = need.objects.count <= left
            objects[need.scope, default: []].formUnion(fits ? need.objects : [])
            if fits { left -= need.objects.count }
        }
        var statements: [(sql: String, arguments: [PostgresValue])] = []
        let share = PostgresTransaction.foresightBytes / max(scopes.count, 1)
        for scope in scopes {
            statements.append((PushStatements.lock, [.scope(scope)]))
            statements.append(
                (PushStatements.states, [.scope(scope), .uuidArray(Array(objects[scope] ?? [])), .int(share)]))
        }
        let answers = try connection.answers(statements)
        for (index, scope) in scopes.enumerated() where answers[2 * index].rowCount > 0 {
            var scopeHeld = try answers[2 * index].row(0) { try $0.held(scope) }
            var foreseen: [UniqueID: HeldScope.Foreseen] = [:]
            for id in objects[scope] ?? [] { foreseen[id] = HeldScope.Foreseen(state: nil, bytes: 0) }
            let large = try PostgresSnapshot.read(answers[2 * index + 1]) { id, state, bytes in
                foreseen[id] = HeldScope.Foreseen(state: state, bytes: bytes)
            }
            for id in large { foreseen[id] = nil }
            scopeHeld.foreseen = foreseen
            held[scope] = scopeHeld
        }
    }
}

extension Row {
    /// From the columns of ``PushStatements/lock``.
    func held(_ scope: ScopeID) throws -> HeldScope {
        HeldScope(
            locked: LockedScope(
                head: ScopeHead(scope: scope, sequence: integer(0), digest: try digest(1)),
                greatestClock: clockIfAny(2), serverClock: clockIfAny(3), hasRevocations: bool(5),
                restoredSequence: integerIfAny(6), storage: storage(from: 7)),
            lastEdit: integer(4))
    }
}
