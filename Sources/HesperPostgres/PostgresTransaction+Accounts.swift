import HesperModel
import HesperStore

extension PostgresTransaction {
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account? {
        // If a concurrent transaction inserts the same address, PostgreSQL waits until that transaction ends.
        let scope = try connection.first(
            """
            WITH account AS (
                INSERT INTO accounts (id, email, email_key, password_hash, creation_date) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (email_key) DO NOTHING RETURNING id),
            scope AS (INSERT INTO scopes (digest) SELECT $6::bytea FROM account RETURNING id),
            progress AS (INSERT INTO indexing (scope, indexed_sequence) SELECT id, 0 FROM scope)
            INSERT INTO memberships (account, scope) SELECT account.id, scope.id FROM account, scope RETURNING scope
            """,
            [
                .id(id), .text(email), .text(Account.key(of: email)), .text(passwordHash), .date(creationDate),
                .digest(.zero),
            ]
        ) { $0.scope(0) }
        return scope.map {
            Account(uniqueID: id, email: email, passwordHash: passwordHash, creationDate: creationDate, scope: $0)
        }
    }

    /// Locks the scope's rows in `indexing` and `scopes`. Transactions that fill the search index lock them in the same order, so
    /// no deadlock can occur. The account's row is already locked.
    /// - Returns: whether the scope exists.
    func lockForErasure(of scope: ScopeID) throws -> Bool {
        try connection.run("SELECT FROM indexing WHERE scope = $1 FOR UPDATE", [.scope(scope)])
        return try lockRow(of: scope)
    }

    func eraseRows(of scope: ScopeID) throws {
        for sql in PostgresTransaction.erasing { connection.enqueue(sql, [.scope(scope)]) }
        lockedScopes[scope] = nil
    }

    private static let erasing = [
        "objects", "edits", "tombstones", "members", "tag_names", "documents", "terms", "indexing", "blobs",
        "uploads", "sweeps", "versions", "revocations", "idempotency_keys", "imports", "webhooks",
        "webhook_deliveries", "memberships",
    ].map { "DELETE FROM \($0) WHERE scope = $1" }
}
