/// The columns and tables that versions 2, 3 and 11 added for devices.
enum SchemaOfDevices {
    static let lastUseAddress = """
        -- The IP address from which the device sent the request at `last_use_date`. Earlier addresses are not stored.
        ALTER TABLE devices ADD COLUMN last_use_address text;
        """

    static let tokens = """
        -- Access tokens are rows in which `token_scopes` is not NULL. This column contains the names of permissions, separated by
        -- spaces. From the date of expiry on, the token is invalid. If the token has a tag, it can only use notes that have this
        -- tag.
        ALTER TABLE devices ADD COLUMN token_scopes text;
        ALTER TABLE devices ADD COLUMN token_expiry_date timestamptz;
        ALTER TABLE devices ADD COLUMN token_tag uuid;
        """

    static let revocations = """
        -- Devices that were revoked because they were lost. Changes that the device pushed after `moment` are undone. `moment` is
        -- NULL if no changes are undone.
        CREATE TABLE revocations (
            scope bigint NOT NULL,
            node bytea NOT NULL,
            name text NOT NULL,
            requested_by bytea,
            request_date timestamptz NOT NULL,
            moment timestamptz,
            -- The progress of undoing the changes: the current one of two passes through the scope, and the sequence up to which
            -- this pass has processed all objects.
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
        -- Whether the scope has revocations. A push reads this column together with the other columns of the scope, and reads
        -- the table of revocations only if there are any.
        ALTER TABLE scopes ADD COLUMN has_revocations boolean NOT NULL DEFAULT false;
        """
}
