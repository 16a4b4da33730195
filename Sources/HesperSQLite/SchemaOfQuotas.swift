/// The columns that version 10 added for storage usage, quotas, and disabled accounts.
enum SchemaOfQuotas {
    static let columns = """
        -- The total size of the bodies of the scope's parcels in bytes, so that a quota is checked without computing it.
        ALTER TABLE scopes ADD COLUMN parcel_bytes INTEGER NOT NULL DEFAULT 0;
        -- The scope's quota in bytes. NULL means the server's default, and -1 means unlimited.
        ALTER TABLE scopes ADD COLUMN quota INTEGER;
        ALTER TABLE accounts ADD COLUMN disabled_since INTEGER;
        """
    /// Reads the sizes of all bodies. NOT INDEXED makes SQLite read the table from its start to its end. In the order of an index
    /// it would read each body from another place of the file.
    static let parcels = "SELECT scope, length(CAST(body AS BLOB)) FROM edits NOT INDEXED"
}
