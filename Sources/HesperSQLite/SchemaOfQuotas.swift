/// The columns that version 10 added for storage usage, quotas, and disabled accounts.
enum SchemaOfQuotas {
    static let columns = """
        -- The total size of the bodies of the scope's parcels in bytes. It is stored so that it need not be computed when a quota
        -- is checked.
        ALTER TABLE scopes ADD COLUMN parcel_bytes INTEGER NOT NULL DEFAULT 0;
        -- The scope's quota in bytes. NULL means the server's default, and -1 means unlimited.
        ALTER TABLE scopes ADD COLUMN quota INTEGER;
        ALTER TABLE accounts ADD COLUMN disabled_since INTEGER;
        """
    /// Reads the sizes of all bodies. NOT INDEXED makes SQLite read the table from its start to its end. If SQLite followed an
    /// index instead, it would read the bodies from many different places in the file.
    static let parcels = "SELECT scope, length(CAST(body AS BLOB)) FROM edits NOT INDEXED"
}
