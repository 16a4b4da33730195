/// Columns and tables that versions 2 and 3 added for devices.
enum SchemaOfDevices {
    static let lastUseAddress = """
        -- The client address of the request at `last_use_date`. Earlier addresses are not stored.
        ALTER TABLE devices ADD COLUMN last_use_address text;
        """

    static let revocations = """
        -- Devices that were revoked as lost. What each pushed after `moment` is undone.
        CREATE TABLE revocations (
            scope bigint NOT NULL,
            node bytea NOT NULL,
            name text NOT NULL,
            requested_by bytea,
            request_date timestamptz NOT NULL,
            moment timestamptz,
            -- The progress: which of two passes, and up to which sequence.
            pass smallint NOT NULL,
            sequence bigint NOT NULL,
            finish_date timestamptz,
            put_back bigint NOT NULL,
            deleted bigint NOT NULL,
            older bigint NOT NULL,
            kept bigint NOT NULL,
            PRIMARY KEY (scope, node)
        );
        CREATE INDEX revocations_open ON revocations (scope, node) WHERE finish_date IS NULL;
        -- Whether the scope has revocations. Read with the lock, so that a push queries them only if there are any.
        ALTER TABLE scopes ADD COLUMN has_revocations boolean NOT NULL DEFAULT false;
        """
}
