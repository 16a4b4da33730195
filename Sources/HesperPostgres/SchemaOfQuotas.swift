/// Columns that version 9 added: storage usage, quotas, and disabled accounts.
enum SchemaOfQuotas {
    static let columns = """
        -- The total bytes of the bodies of all parcels, so that a quota is checked without summing; like `blob_bytes`.
        ALTER TABLE scopes ADD COLUMN parcel_bytes bigint NOT NULL DEFAULT 0;
        -- The quota in bytes; NULL: the server's default; -1: unlimited.
        ALTER TABLE scopes ADD COLUMN quota bigint;
        ALTER TABLE accounts ADD COLUMN disabled_since timestamptz;
        UPDATE scopes s SET parcel_bytes = e.bytes
        FROM (SELECT scope, sum(octet_length(body::text))::bigint AS bytes FROM edits GROUP BY scope) e
        WHERE s.id = e.scope;
        """
}
