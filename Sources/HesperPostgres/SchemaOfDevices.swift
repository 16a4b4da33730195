/// What the second version and the third added to devices.
enum SchemaOfDevices {
    static let lastUseAddress = """
        -- Where the request of last_use_date came from. The ones before are not kept.
        ALTER TABLE devices ADD COLUMN last_use_address text;
        """

    static let revocations = """
        -- Devices that were revoked as lost; what each pushed after `moment` is put back.
        CREATE TABLE revocations (
            scope bigint NOT NULL,
            node bytea NOT NULL,
            name text NOT NULL,
            requested_by bytea,
            request_date timestamptz NOT NULL,
            moment timestamptz,
            -- How far the scope has been looked through: in which of two passes, and up to which sequence number.
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
        -- Whether there are any: told with the lock, so that a push asks for them only if there are.
        ALTER TABLE scopes ADD COLUMN has_revocations boolean NOT NULL DEFAULT false;
        """
}
