import HesperModel
import HesperSQL
import HesperStore

extension SQLiteTransaction {
    func insertAccount(
        _ id: UniqueID, email: String, passwordHash: String, creationDate: Timestamp
    ) throws -> Account? {
        let key = Account.key(of: email)
        guard try account(emailKey: key) == nil else { return nil }
        try sql.enqueue("INSERT INTO scopes (digest) VALUES ($1)", [.digest(.zero)])
        let scope = ScopeID(database.lastInsertedRowID)
        try sql.enqueue(
            "INSERT INTO accounts (id, email, email_key, password_hash, creation_date) VALUES ($1, $2, $3, $4, $5)",
            [.id(id), .text(email), .text(key), .text(passwordHash), .date(creationDate)])
        try sql.enqueue(
            "INSERT INTO memberships (account, scope) VALUES ($1, $2)", [.id(id), .scope(scope)])
        return Account(
            uniqueID: id, email: email, passwordHash: passwordHash, creationDate: creationDate, scope: scope)
    }

    /// Deletes the scope's rows of the virtual table `terms`. The rows of other tables are deleted by foreign keys, which virtual
    /// tables cannot have.
    func eraseRows(of scope: ScopeID) throws {
        try sql.enqueue(
            "DELETE FROM terms WHERE rowid IN (SELECT number FROM documents WHERE scope = $1)", [.scope(scope)])
    }
}
