import HesperModel
import HesperStore

/// The columns that ``Prepared/account()`` reads.
private let accountColumns = """
    SELECT a.id, a.email, a.password_hash, a.creation_date, m.scope, a.email_verification_date, a.disabled_since
    FROM accounts a JOIN memberships m ON m.account = a.id
    """

extension Prepared {
    /// The rows that ``accountClock()`` reads; the parameter is their number.
    static let greatestClocks = """
        SELECT a.email, s.greatest_clock
        FROM scopes s JOIN memberships m ON m.scope = s.id JOIN accounts a ON a.id = m.account
        WHERE s.greatest_clock IS NOT NULL ORDER BY s.greatest_clock DESC LIMIT ?1
        """

    func accountClock() -> AccountClock? { clockIfAny(1).map { AccountClock(email: string(0), clock: $0) } }
}

extension SQLiteSnapshot {
    func account(_ id: UniqueID) throws -> Account? {
        let row = try prepare("\(accountColumns) WHERE a.id = ?")
        row.bind(1, id)
        return try row.first { try row.account() }
    }

    func account(emailKey key: String) throws -> Account? {
        let row = try prepare("\(accountColumns) WHERE a.email_key = ?")
        row.bind(1, key)
        return try row.first { try row.account() }
    }

    func totals() throws -> Totals {
        let row = try prepare(
            """
            SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM devices),
                (SELECT coalesce(sum(blob_bytes), 0) FROM scopes)
            """)
        return try row.first { Totals(accounts: row.int(0), devices: row.int(1), blobBytes: row.integer(2)) }
            ?? Totals(accounts: 0, devices: 0, blobBytes: 0)
    }

    func greatestClocks(limit: Int) throws -> [AccountClock] {
        let row = try prepare(Prepared.greatestClocks)
        row.bind(1, max(limit, 0))
        return try row.all { row.accountClock() }.compactMap(\.self)
    }

    func accounts() throws -> [Account] {
        let row = try prepare("\(accountColumns) ORDER BY a.email_key")
        return try row.all { try row.account() }
    }
}

extension SQLiteTransaction {
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account? {
        let key = Account.key(of: email)
        guard try account(emailKey: key) == nil else { return nil }
        let scope = try prepare("INSERT INTO scopes (digest) VALUES (?)")
        scope.bind(1, Digest.zero)
        try scope.run()
        let scopeID = ScopeID(database.lastInsertedRowID)
        let account = try prepare(
            "INSERT INTO accounts (id, email, email_key, password_hash, creation_date) VALUES (?, ?, ?, ?, ?)")
        account.bind(1, id)
        account.bind(2, email)
        account.bind(3, key)
        account.bind(4, passwordHash)
        account.bind(5, creationDate)
        try account.run()
        let membership = try prepare("INSERT INTO memberships (account, scope) VALUES (?, ?)")
        membership.bind(1, id)
        membership.bind(2, scopeID)
        try membership.run()
        return Account(
            uniqueID: id, email: email, passwordHash: passwordHash, creationDate: creationDate, scope: scopeID)
    }

    func setPasswordHash(_ hash: String, of account: UniqueID) throws {
        let update = try prepare("UPDATE accounts SET password_hash = ?2 WHERE id = ?1")
        update.bind(1, account)
        update.bind(2, hash)
        try update.run()
    }

    func setEmailVerificationDate(_ date: Timestamp, of account: UniqueID) throws {
        let update = try prepare("UPDATE accounts SET email_verification_date = ?2 WHERE id = ?1")
        update.bind(1, account)
        update.bind(2, date)
        try update.run()
    }

    func setQuota(_ quota: Quota, of scope: ScopeID) throws {
        let update = try prepare("UPDATE scopes SET quota = ?2 WHERE id = ?1")
        update.bind(1, scope)
        update.bind(2, quota.stored)
        try update.run()
    }

    func setDisabled(since date: Timestamp?, _ account: UniqueID) throws {
        let update = try prepare("UPDATE accounts SET disabled_since = ?2 WHERE id = ?1")
        update.bind(1, account)
        update.bind(2, date)
        try update.run()
    }

    /// The rows of the scope go with it, by their foreign keys; only the virtual table has none.
    func deleteAccount(_ id: UniqueID) throws {
        guard let scope = try account(id)?.scope else { return }
        let terms = try prepare("DELETE FROM terms WHERE rowid IN (SELECT number FROM documents WHERE scope = ?)")
        terms.bind(1, scope)
        try terms.run()
        let blobs = try prepare(
            """
            INSERT INTO removed_blobs (scope, attachment, nonce)
            SELECT scope, attachment, nonce FROM blobs WHERE scope = ?1
            """)
        blobs.bind(1, scope)
        try blobs.run()
        let rows = try prepare("DELETE FROM scopes WHERE id = ?")
        rows.bind(1, scope)
        try rows.run()
        let account = try prepare("DELETE FROM accounts WHERE id = ?")
        account.bind(1, id)
        try account.run()
    }
}
