import HesperModel
import HesperStore

/// The columns that ``Row/account()`` reads.
private let accountColumns = """
    SELECT a.id, a.email, a.password_hash, a.creation_date, m.scope, a.email_verification_date, a.disabled_since
    FROM accounts a JOIN memberships m ON m.account = a.id
    """

extension PostgresSnapshot {
    func account(_ id: UniqueID) throws -> Account? {
        try connection.first("\(accountColumns) WHERE a.id = $1\(accountLock)", [.id(id)]) { try $0.account() }
    }

    func account(emailKey key: String) throws -> Account? {
        try connection.first("\(accountColumns) WHERE a.email_key = $1\(accountLock)", [.text(key)]) {
            try $0.account()
        }
    }

    func totals() throws -> Totals {
        try connection.first(
            """
            SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM devices),
                (SELECT coalesce(sum(blob_bytes), 0)::bigint FROM scopes)
            """
        ) { Totals(accounts: $0.int(0), devices: $0.int(1), blobBytes: $0.integer(2)) }
            ?? Totals(accounts: 0, devices: 0, blobBytes: 0)
    }

    func greatestClocks(limit: Int) throws -> [AccountClock] {
        try connection.all(
            """
            SELECT a.email, s.greatest_clock
            FROM scopes s JOIN memberships m ON m.scope = s.id JOIN accounts a ON a.id = m.account
            WHERE s.greatest_clock IS NOT NULL ORDER BY s.greatest_clock DESC LIMIT $1
            """, [.int(max(limit, 0))]
        ) { AccountClock(email: $0.string(0), clock: try $0.clock(1)) }
    }

    func accounts() throws -> [Account] {
        try connection.all("\(accountColumns) ORDER BY a.email_key") { try $0.account() }
    }
}

extension PostgresTransaction {
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account? {
        // Whoever takes the address at the same time is waited for.
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

    func setPasswordHash(_ hash: String, of account: UniqueID) throws {
        connection.enqueue("UPDATE accounts SET password_hash = $2 WHERE id = $1", [.id(account), .text(hash)])
    }

    func setEmailVerificationDate(_ date: Timestamp, of account: UniqueID) throws {
        connection.enqueue(
            "UPDATE accounts SET email_verification_date = $2 WHERE id = $1", [.id(account), .date(date)])
    }

    /// Waits for a push that has the scope.
    func setQuota(_ quota: Quota, of scope: ScopeID) throws {
        connection.enqueue("UPDATE scopes SET quota = $2 WHERE id = $1", [.scope(scope), .int8(quota.stored)])
    }

    func setDisabled(since date: Timestamp?, _ account: UniqueID) throws {
        connection.enqueue("UPDATE accounts SET disabled_since = $2 WHERE id = $1", [.id(account), .date(date)])
    }

    /// With it goes all that belongs to its scope. Nothing is written there without the lock, so nothing comes after it.
    func deleteAccount(_ id: UniqueID) throws {
        guard let scope = try account(id)?.scope else { return }
        // The account is locked by now. Whoever fills the index of terms has this row first, the scope's own after it.
        try connection.run("SELECT FROM indexing WHERE scope = $1 FOR UPDATE", [.scope(scope)])
        if try hold(scope) {
            for sql in PostgresTransaction.erasing { connection.enqueue(sql, [.scope(scope)]) }
            held[scope] = nil
        }
        connection.enqueue("DELETE FROM accounts WHERE id = $1", [.id(id)])
    }

    private static let erasing =
        [
            """
            INSERT INTO removed_blobs (scope, attachment, nonce)
            SELECT scope, attachment, nonce FROM blobs WHERE scope = $1
            """
        ]
        + [
            "objects", "edits", "tombstones", "members", "tag_names", "documents", "terms", "indexing", "blobs",
            "uploads", "sweeps", "versions", "revocations", "memberships",
        ].map { "DELETE FROM \($0) WHERE scope = $1" }
        + ["DELETE FROM scopes WHERE id = $1"]
}
