/// What the third version and the fourth added to devices.
enum SchemaOfDevices {
    static let lastUseAddress = """
        -- Where the request of last_use_date came from. The ones before are not kept.
        ALTER TABLE devices ADD COLUMN last_use_address TEXT;
        """

    static let revocations = """
        -- Devices that were revoked as lost; what each pushed after `moment` is put back.
        CREATE TABLE revocations (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            node BLOB NOT NULL,
            name TEXT NOT NULL,
            requested_by BLOB,
            request_date INTEGER NOT NULL,
            moment INTEGER,
            -- How far the scope has been looked through: in which of two passes, and up to which sequence number.
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
        -- Whether there are any: told with the lock, so that a push asks for them only if there are.
        ALTER TABLE scopes ADD COLUMN has_revocations INTEGER NOT NULL DEFAULT 0;
        """
}
