/// The table that version 5 added: tickets.
enum SchemaOfTickets {
    static let tables = """
        -- Links and codes that work once. `token` is the hash of the code. `account` is the account whose password or address it
        -- is for, and `email` the address that an invitation is for.
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
