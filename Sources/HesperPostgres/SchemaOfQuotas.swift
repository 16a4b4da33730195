/// The columns that version 9 added for storage usage, quotas, and disabled accounts.
enum SchemaOfQuotas {
    static let columns = """
        -- The total size of the bodies of the scope's parcels in bytes. It is stored so that it need not be computed when a quota
        -- is checked.
        ALTER TABLE scopes ADD COLUMN parcel_bytes bigint NOT NULL DEFAULT 0;
        -- The scope's quota in bytes. NULL means the server's default, and -1 means unlimited.
        ALTER TABLE scopes ADD COLUMN quota bigint;
        ALTER TABLE accounts ADD COLUMN disabled_since timestamptz;
        UPDATE scopes s SET parcel_bytes = e.bytes
        FROM (SELECT scope, sum(octet_length(body::text))::bigint AS bytes FROM edits GROUP BY scope) e
        WHERE s.id = e.scope;
        """
}
