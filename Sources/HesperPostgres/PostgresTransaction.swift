import HesperModel
import HesperSQL
import HesperStore

/// A write transaction. It writes the data of a scope only while it has locked the scope's row. So transactions on the same scope
/// run one after the other, and each reads the data that the earlier ones have committed. Its methods are in extensions, one
/// file for each subject.
final class PostgresTransaction: PostgresSnapshot, SQLTransaction {
    /// The scopes whose rows this transaction has locked.
    var lockedScopes: [ScopeID: LockedScopeState] = [:]
    /// The rows of pushes that are not sent yet.
    var pendingRows = PendingRows()
    /// The error of a deadlock or serialization failure in a savepoint; nil if there was none. If it is set, the transaction is
    /// retried.
    private var conflict: PostgresError?

    /// The connection, on which all statements of the transaction run. The rows of earlier pushes are sent first, so that every
    /// statement sees them.
    override var connection: Connection {
        sendPendingRows()
        return directConnection
    }

    func sendPendingRows() { pendingRows.send(to: directConnection) }

    /// The SQL clause that locks the rows that are read from `table`. The lock prevents, for example, a password from changing
    /// between its check and the commit. An account is locked before its tickets, its devices and its scope. Other transactions can
    /// still insert rows that reference a locked row.
    override func rowLock(on table: String) -> String { " FOR NO KEY UPDATE OF \(table)" }

    /// The maximum number of attempts to run a transaction that fails with a conflict. Conflicts are rare, because transactions
    /// lock scopes in ascending order and so do not deadlock.
    private static let attempts = 5

    /// Runs `body` in a transaction. Statements are sent in a pipeline, and `body` waits only for results that it needs. BEGIN
    /// takes no round trip of its own, and COMMIT is sent together with the statements that are still enqueued.
    /// - Parameter waitsForDisk: whether the commit waits until it is durable.
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
                try transaction.connection.run("COMMIT")
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
        // Wait for earlier statements here, because an error of one of them cannot be undone by rolling back to this savepoint.
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

    /// Rolls back to the savepoint after an error.
    /// - Returns: the error of an enqueued statement if one has failed; otherwise the given error. A PostgreSQL error is
    ///   converted to a store error.
    /// - Throws: an error after which the whole transaction has to be rolled back.
    private func undo(_ error: any Error) throws -> any Error {
        var error = error
        pendingRows = PendingRows()
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

    /// Locks and reads the row of a scope. The row stays locked until the transaction ends.
    func lock(_ scope: ScopeID) throws -> LockedScope? {
        if let state = lockedScopes[scope] { return state.locked }
        lockedScopes[scope] = try connection.first(PushStatements.lock, [.int8Array([scope.rawValue])]) {
            try $0.lockedScopeState()
        }
        return lockedScopes[scope]?.locked
    }

    /// Takes the states of prefetched objects from memory, and reads the states of other objects from the database.
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
    /// Whether the error is a deadlock or a serialization failure. Then a retry of the transaction may succeed.
    var isConflict: Bool { sqlState.hasPrefix("40") }
}
