/// What the third version added: rights that are good once.
enum SchemaOfTickets {
    static let tables = """
        -- Links and codes that are good once: `token` is the hash of the code, `account` whose password one resets, `email`
        -- whom one invites.
        CREATE TABLE tickets (
            token BLOB PRIMARY KEY NOT NULL,
            purpose TEXT NOT NULL,
            account BLOB REFERENCES accounts (id) ON DELETE CASCADE,
            email TEXT,
            end_date INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX tickets_account ON tickets (account, purpose);
        CREATE INDEX tickets_date ON tickets (end_date);
        """
}
