/// The table of tickets, which version 5 added.
enum SchemaOfTickets {
    static let tables = """
        -- Links and codes that can be used once. `token` is the hash of the code. `account` is the account whose password can be
        -- reset or whose address is verified. `email` is the address that was invited, or NULL if anyone may use the invitation.
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
