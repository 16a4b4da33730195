/// The table of tickets, which version 4 added.
enum SchemaOfTickets {
    static let tables = """
        -- Links and codes that can be used once. `token` is the hash of the code. `account` is the account whose password can be
        -- reset or whose address is verified. `email` is the address that was invited, or NULL if anyone may use the invitation.
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
