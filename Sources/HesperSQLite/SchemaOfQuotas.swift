/// Columns that version 10 added: storage usage, quotas, and disabled accounts.
enum SchemaOfQuotas {
    static let columns = """
        -- The total bytes of the bodies of all parcels, so that a quota is checked without summing; like `blob_bytes`.
        ALTER TABLE scopes ADD COLUMN parcel_bytes INTEGER NOT NULL DEFAULT 0;
        -- The quota in bytes; NULL: the server's default; -1: unlimited.
        ALTER TABLE scopes ADD COLUMN quota INTEGER;
        ALTER TABLE accounts ADD COLUMN disabled_since INTEGER;
        """
    /// In the order of the table: in the order of an index each body would be read from another place.
    static let parcels = "SELECT scope, length(CAST(body AS BLOB)) FROM edits NOT INDEXED"
}
