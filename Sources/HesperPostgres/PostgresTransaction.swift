import HesperModel
import HesperSQL
import HesperStore

/// A transaction that writes. Whatever belongs to a scope is written under the lock of its row, so those of one scope come
/// one after the other, and what one of them reads is what all before it have left. What it does is in one file per noun.
final class PostgresTransaction: PostgresSnapshot, SQLTransaction {
    /// Scopes whose row is locked.
    var held: [ScopeID: HeldScope] = [:]
    /// What PostgreSQL gave the transaction up for, when that was another's sake.
    private var conflict: PostgresError?

    /// An account that was asked for stays as it is until the end: what is decided by its password is over before there is
    /// another. It comes before its tickets, its devices and its scope; who only refers to it is not held up.
    override func rowLock(on table: String) -> String { " FOR NO KEY UPDATE OF \(table)" }

    /// How often a transaction is done at most that PostgreSQL gives up for another's sake: those that lock scopes in the
    /// order of their numbers never wait for each other in a circle, so there are few.
    private static let attempts = 5

    /// Does `body` in a transaction. Statements are sent as they come, and waited for only where something is asked: BEGIN
    /// goes with the first of them, COMMIT with the last.
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
        // What went wrong before it is nothing that it could undo.
        try connection.flush()
        let before = held
        do {
            let result = try body()
            connection.enqueue("RELEASE SAVEPOINT push")
            try connection.flush()
            return result
        } catch {
            let error = try undo(error)
            held = before
            throw error
        }
    }

    /// Undoes what came after the last savepoint.
    /// - Returns: the error that `body` failed with, in the store's words: what it enqueued may have failed before it did.
    /// - Throws: what leaves nothing of the transaction.
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
        if let held = held[scope] { return held.locked }
        held[scope] = try connection.first(PushStatements.lock, [.scope(scope)]) { try $0.held(scope) }
        return held[scope]?.locked
    }

    /// Asks only for those that were not foreseen.
    override func states(
        of ids: [UniqueID], in scope: ScopeID, counting count: (Int) throws -> Void = { _ in }
    ) throws -> [UniqueID: ObjectState] {
        guard let foreseen = held[scope]?.foreseen, !foreseen.isEmpty else {
            return try super.states(of: ids, in: scope, counting: count)
        }
        var states: [UniqueID: ObjectState] = [:]
        var unknown: [UniqueID] = []
        for id in ids {
            guard let known = foreseen[id] else {
                unknown.append(id)
                continue
            }
            try count(known.bytes)
            states[id] = known.state
        }
        return try states.merging(super.states(of: unknown, in: scope, counting: count)) { known, _ in known }
    }

    /// Locks a scope's row unless this transaction has.
    /// - Returns: whether there is such a scope.
    func lockRow(of scope: ScopeID) throws -> Bool { try lock(scope) != nil }

    func recordRevocation(in scope: ScopeID) { held[scope]?.hasRevocation() }

    func bag(of scope: ScopeID) -> any Bag { PostgresBag(snapshot: self, scope: scope) }
}

extension PostgresError {
    /// A deadlock, or two transactions that can not have come one after the other: done again, it may go well.
    var isConflict: Bool { sqlState.hasPrefix("40") }
}
