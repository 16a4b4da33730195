/// The table that version 11 added. It records the requests that had an `Idempotency-Key` header.
enum SchemaOfIdempotencyKeys {
    static let tables = """
        -- One row for each `Idempotency-Key` that a request of the scope had. `number` is the order in which the keys arrived.
        -- A scope has at most a fixed number of keys, the limit. When a key with the number n is inserted, the key with the
        -- number n - limit is deleted.
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
