/// The table that version 4 added: tickets.
enum SchemaOfTickets {
    static let tables = """
        -- Links and codes that work once. `token` is the hash of the code. `account` is the account whose password or address it
        -- is for, and `email` the address that an invitation is for.
        CREATE TABLE tickets (
            token bytea PRIMARY KEY,
            purpose text COLLATE "C" NOT NULL,
            account uuid REFERENCES accounts ON DELETE CASCADE,
            email text,
            end_date timestamptz NOT NULL
        );
        CREATE INDEX tickets_account ON tickets (account, purpose);
        CREATE INDEX tickets_date ON tickets (end_date);
        """
}
