/// The columns and tables that versions 3, 4 and 12 added for devices.
enum SchemaOfDevices {
    static let lastUseAddress = """
        -- The IP address from which the device sent the request at `last_use_date`. Earlier addresses are not stored.
        ALTER TABLE devices ADD COLUMN last_use_address TEXT;
        """

    static let tokens = """
        -- Access tokens are rows in which `token_scopes` is not NULL. This column contains the names of permissions, separated by
        -- spaces. From the date of expiry on, the token is invalid. If the token has a tag, it can only use notes that have this
        -- tag.
        ALTER TABLE devices ADD COLUMN token_scopes TEXT;
        ALTER TABLE devices ADD COLUMN token_expiry_date INTEGER;
        ALTER TABLE devices ADD COLUMN token_tag BLOB;
        """

    static let revocations = """
        -- Devices that were revoked because they were lost. Changes that the device pushed after `moment` are undone. `moment` is
        -- NULL if no changes are undone.
        CREATE TABLE revocations (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            node BLOB NOT NULL,
            name TEXT NOT NULL,
            requested_by BLOB,
            request_date INTEGER NOT NULL,
            moment INTEGER,
            -- The progress of undoing the changes: the current one of two passes through the scope, and the sequence up to which
            -- this pass has processed all objects.
            pass INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            finish_date INTEGER,
            put_back INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            older INTEGER NOT NULL,
            kept INTEGER NOT NULL,
            PRIMARY KEY (scope, node)
        ) WITHOUT ROWID;
        CREATE INDEX revocations_open ON revocations (scope, node) WHERE finish_date IS NULL;
        -- Whether the scope has revocations. A push reads this column together with the other columns of the scope, and reads
        -- the table of revocations only if there are any.
        ALTER TABLE scopes ADD COLUMN has_revocations INTEGER NOT NULL DEFAULT 0;
        """
}
