/// What the eleventh version added: what requests with an `Idempotency-Key` left.
enum SchemaOfIdempotencyKeys {
    static let tables = """
        -- `number` is the order in which the keys of a scope came. When a key comes, the one as many numbers before it as there
        -- may be keys is removed.
        CREATE TABLE idempotency_keys (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            key_hash BLOB NOT NULL,
            body_hash BLOB NOT NULL,
            object BLOB NOT NULL,
            is_creation INTEGER NOT NULL,
            creation_date INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (scope, key_hash)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX idempotency_keys_number ON idempotency_keys (scope, number);
        CREATE INDEX idempotency_keys_date ON idempotency_keys (creation_date);
        """
}
