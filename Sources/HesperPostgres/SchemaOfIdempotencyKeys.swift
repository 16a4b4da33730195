/// What the tenth version added: what requests with an `Idempotency-Key` left.
enum SchemaOfIdempotencyKeys {
    static let tables = """
        -- `number` is the order in which the keys of a scope came. When a key comes, the one as many numbers before it as there
        -- may be keys is removed.
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
        -- As for the other tables of scopes: a plan is made for scopes of every size.
        ALTER TABLE idempotency_keys ALTER scope SET STATISTICS 0;
        """
}
