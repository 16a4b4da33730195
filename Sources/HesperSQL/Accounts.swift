import HesperModel
import HesperStore

/// The SELECT and FROM clauses of a query for accounts. ``StoredRow/account()`` decodes its rows.
private let columns = """
    SELECT a.id, a.email, a.password_hash, a.creation_date, m.scope, a.email_verification_date, a.disabled_since
    FROM accounts a JOIN memberships m ON m.account = a.id
    """

extension SQLSnapshot {
    public func account(_ id: UniqueID) throws -> Account? {
        try sql.first("\(columns) WHERE a.id = $1\(rowLock(on: "a"))", [.id(id)]) { try $0.account() }
    }

    public func account(emailKey key: String) throws -> Account? {
        try sql.first("\(columns) WHERE a.email_key = $1\(rowLock(on: "a"))", [.text(key)]) { try $0.account() }
    }

    public func accounts() throws -> [Account] {
        try sql.all("\(columns) ORDER BY a.email_key", []) { try $0.account() }
    }

    public func hasAccount() throws -> Bool {
        try sql.first("SELECT EXISTS (SELECT 1 FROM accounts WHERE email_key > '')", []) { $0.bool(0) } ?? false
    }

    public func totals() throws -> Totals {
        try sql.first(
            """
            SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM devices),
                (SELECT CAST(coalesce(sum(blob_bytes), 0) AS bigint) FROM scopes)
            """, []
        ) { Totals(accounts: $0.int(0), devices: $0.int(1), blobBytes: $0.integer(2)) }
            ?? Totals(accounts: 0, devices: 0, blobBytes: 0)
    }

    public func greatestClocks(limit: Int) throws -> [AccountClock] {
        try sql.all(
            """
            SELECT a.email, s.greatest_clock
            FROM scopes s JOIN memberships m ON m.scope = s.id JOIN accounts a ON a.id = m.account
            WHERE s.greatest_clock IS NOT NULL ORDER BY s.greatest_clock DESC LIMIT $1
            """, [.limit(limit)]
        ) { row in row.clockIfAny(1).map { AccountClock(email: row.string(0), clock: $0) } }.compactMap(\.self)
    }
}

extension SQLTransaction {
    public func setPasswordHash(_ hash: String, of account: UniqueID) throws {
        try sql.enqueue("UPDATE accounts SET password_hash = $2 WHERE id = $1", [.id(account), .text(hash)])
    }

    public func setEmailVerificationDate(_ date: Timestamp, of account: UniqueID) throws {
        try sql.enqueue("UPDATE accounts SET email_verification_date = $2 WHERE id = $1", [.id(account), .date(date)])
    }

    /// Sets the quota of a scope. If a push has locked the row of the scope, this method waits until the push has ended.
    public func setQuota(_ quota: Quota, of scope: ScopeID) throws {
        try sql.enqueue("UPDATE scopes SET quota = $2 WHERE id = $1", [.scope(scope), .integer(quota.stored)])
    }

    public func setDisabled(since date: Timestamp?, _ account: UniqueID) throws {
        try sql.enqueue("UPDATE accounts SET disabled_since = $2 WHERE id = $1", [.id(account), .date(date)])
    }

    /// Deletes an account. The row of its scope is locked first, so that no concurrent write can add rows to the scope.
    public func deleteAccount(_ id: UniqueID) throws {
        guard let scope = try account(id)?.scope else { return }
        if try lockForErasure(of: scope) {
            try sql.enqueue(
                """
                INSERT INTO removed_blobs (scope, attachment, nonce)
                SELECT scope, attachment, nonce FROM blobs WHERE scope = $1
                """, [.scope(scope)])
            try eraseRows(of: scope)
            try sql.enqueue("DELETE FROM scopes WHERE id = $1", [.scope(scope)])
        }
        try sql.enqueue("DELETE FROM accounts WHERE id = $1", [.id(id)])
    }
}
