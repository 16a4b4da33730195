/// Columns and tables that versions 3 and 4 added for devices.
enum SchemaOfDevices {
    static let lastUseAddress = """
        -- The client address of the request at `last_use_date`. Earlier addresses are not stored.
        ALTER TABLE devices ADD COLUMN last_use_address TEXT;
        """

    static let revocations = """
        -- Devices that were revoked as lost. What each pushed after `moment` is undone.
        CREATE TABLE revocations (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            node BLOB NOT NULL,
            name TEXT NOT NULL,
            requested_by BLOB,
            request_date INTEGER NOT NULL,
            moment INTEGER,
            -- The progress: which of two passes, and up to which sequence.
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
        -- Whether the scope has revocations. Read with the lock, so that a push queries them only if there are any.
        ALTER TABLE scopes ADD COLUMN has_revocations INTEGER NOT NULL DEFAULT 0;
        """
}
