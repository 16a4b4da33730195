/// What the ninth version added: what a quota counts, and accounts that are disabled.
enum SchemaOfQuotas {
    static let columns = """
        -- The bytes of the bodies of all parcels, so that a quota is checked without adding up; beside it blob_bytes.
        ALTER TABLE scopes ADD COLUMN parcel_bytes bigint NOT NULL DEFAULT 0;
        -- How many bytes the scope may store; null: as many as the server's setting says; -1: any number.
        ALTER TABLE scopes ADD COLUMN quota bigint;
        ALTER TABLE accounts ADD COLUMN disabled_since timestamptz;
        UPDATE scopes s SET parcel_bytes = e.bytes
        FROM (SELECT scope, sum(octet_length(body::text))::bigint AS bytes FROM edits GROUP BY scope) e
        WHERE s.id = e.scope;
        """
}
