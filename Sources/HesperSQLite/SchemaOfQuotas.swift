/// What the tenth version added: what a quota counts, and accounts that are disabled.
enum SchemaOfQuotas {
    static let columns = """
        -- The bytes of the bodies of all parcels, so that a quota is checked without adding up; beside it blob_bytes.
        ALTER TABLE scopes ADD COLUMN parcel_bytes INTEGER NOT NULL DEFAULT 0;
        -- How many bytes the scope may store; NULL: as many as the server's setting says; -1: any number.
        ALTER TABLE scopes ADD COLUMN quota INTEGER;
        ALTER TABLE accounts ADD COLUMN disabled_since INTEGER;
        """
    /// In the order of the table: that of an index would read each body from another place.
    static let parcels = "SELECT scope, length(CAST(body AS BLOB)) FROM edits NOT INDEXED"
}
