/// The table that version 10 added. It records the requests that had an `Idempotency-Key` header.
enum SchemaOfIdempotencyKeys {
    static let tables = """
        -- One row for each `Idempotency-Key` that a request of the scope had. `number` is the order in which the keys arrived.
        -- A scope has at most a fixed number of keys, the limit. When a key with the number n is inserted, the key with the
        -- number n - limit is deleted.
        CREATE TABLE idempotency_keys (
            scope bigint NOT NULL,
            key_hash bytea NOT NULL,
            body_hash bytea NOT NULL,
            object uuid NOT NULL,
            creation_date timestamptz NOT NULL,
            number bigint NOT NULL,
            is_creation boolean NOT NULL,
            PRIMARY KEY (scope, key_hash)
        );
        CREATE UNIQUE INDEX idempotency_keys_number ON idempotency_keys (scope, number);
        CREATE INDEX idempotency_keys_date ON idempotency_keys (creation_date);
        -- No statistics of `scope`, as in the other tables of scopes (SchemaOfStatistics).
        ALTER TABLE idempotency_keys ALTER scope SET STATISTICS 0;
        """
}
