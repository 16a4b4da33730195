import HesperModel
import HesperSQL
import HesperStore

/// A write transaction. Everything that belongs to a scope is written while the scope's row is locked, so transactions on
/// one scope run one after the other, and each reads what all earlier ones have committed. Its writes are in one file per
/// subject.
final class PostgresTransaction: PostgresSnapshot, SQLTransaction {
    /// The scopes whose rows this transaction has locked.
    var lockedScopes: [ScopeID: LockedScopeState] = [:]
    /// The error of a deadlock or serialization failure, after which the transaction is retried.
    private var conflict: PostgresError?

    /// Locks accounts that are read, so that a password does not change between its check and the commit. The account is
    /// locked before its tickets, its devices and its scope. Inserting rows that reference it does not wait.
    override func rowLock(on table: String) -> String { " FOR NO KEY UPDATE OF \(table)" }

    /// The maximum number of attempts after conflicts. Transactions that lock scopes in ascending order never deadlock, so
    /// conflicts are rare.
    private static let attempts = 5

    /// Runs `body` in a transaction. Statements are sent in a pipeline and waited for only where a result is needed: BEGIN is
    /// sent with the first of them, COMMIT with the last.
    static func run<T>(
        on connection: Connection, waitsForDisk: Bool = true, _ body: (any Transaction) throws -> T
    ) throws -> T {
        var attempt = 1
        while true {
            let transaction = PostgresTransaction(connection)
            connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED")
            if !waitsForDisk { connection.enqueue("SET LOCAL synchronous_commit = off") }
            do {
                let result = try body(transaction)
                try connection.run("COMMIT")
                return result
            } catch {
                let conflict = transaction.conflict ?? (error as? PostgresError).flatMap { $0.isConflict ? $0 : nil }
                guard conflict != nil, attempt < attempts else { throw error }
                attempt += 1
                try connection.run("ROLLBACK")
            }
        }
    }

    func savepoint<T>(_ body: () throws -> T) throws -> T {
        connection.enqueue("SAVEPOINT push")
        // Throws earlier errors here, as rolling back to the savepoint would not undo their causes.
        try connection.flush()
        let before = lockedScopes
        do {
            let result = try body()
            connection.enqueue("RELEASE SAVEPOINT push")
            try connection.flush()
            return result
        } catch {
            let error = try undo(error)
            lockedScopes = before
            throw error
        }
    }

    /// Rolls back to the savepoint.
    /// - Returns: the error of `body`, or of a statement that it enqueued before, as a store error.
    /// - Throws: an error after which the whole transaction is lost.
    private func undo(_ error: any Error) throws -> any Error {
        var error = error
        do { try connection.flush() } catch let earlier { error = earlier }
        if let failure = error as? PostgresError {
            if failure.isConflict { conflict = failure }
            error = StoreError(failure)
            if failure.isRetryable { throw error }
        }
        try connection.run("ROLLBACK TO SAVEPOINT push")
        connection.enqueue("RELEASE SAVEPOINT push")
        return error
    }

    /// The scope's row stays locked until the transaction ends.
    func lock(_ scope: ScopeID) throws -> LockedScope? {
        if let state = lockedScopes[scope] { return state.locked }
        lockedScopes[scope] = try connection.first(PushStatements.lock, [.scope(scope)]) {
            try $0.lockedScopeState(scope)
        }
        return lockedScopes[scope]?.locked
    }

    /// Queries only the objects that were not prefetched.
    override func states(
        of ids: [UniqueID], in scope: ScopeID, counting count: (Int) throws -> Void = { _ in }
    ) throws -> [UniqueID: ObjectState] {
        guard let prefetched = lockedScopes[scope]?.prefetched, !prefetched.isEmpty else {
            return try super.states(of: ids, in: scope, counting: count)
        }
        var states: [UniqueID: ObjectState] = [:]
        var unknown: [UniqueID] = []
        for id in ids {
            guard let known = prefetched[id] else {
                unknown.append(id)
                continue
            }
            try count(known.bytes)
            states[id] = known.state
        }
        return try states.merging(super.states(of: unknown, in: scope, counting: count)) { known, _ in known }
    }

    /// Locks the row of a scope unless this transaction has locked it already.
    /// - Returns: whether the scope exists.
    func lockRow(of scope: ScopeID) throws -> Bool { try lock(scope) != nil }

    func recordRevocation(in scope: ScopeID) { lockedScopes[scope]?.hasRevocation() }

    func bag(of scope: ScopeID) -> any Bag { PostgresBag(snapshot: self, scope: scope) }
}

extension PostgresError {
    /// Whether it is a deadlock or a serialization failure: a retry may succeed.
    var isConflict: Bool { sqlState.hasPrefix("40") }
}
