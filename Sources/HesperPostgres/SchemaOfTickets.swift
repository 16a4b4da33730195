/// What the second version added: rights that are good once.
enum SchemaOfTickets {
    static let tables = """
        -- Links and codes that are good once: `token` is the hash of the code, `account` whose password one resets, `email`
        -- whom one invites.
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
