/// What the sixth version added, what texts descend from, and what the seventh added, checksums of parcels.
enum SchemaOfTexts {
    static let descent = """
        -- The clocks, one after the other, of texts that this text descends from and that were not here when it came; its own
        -- among them, if a device gave it back after a restore.
        ALTER TABLE edits ADD COLUMN missing_ancestors bytea;
        CREATE INDEX edits_missing_ancestors ON edits (scope, object) WHERE missing_ancestors IS NOT NULL;
        -- Where the scope stood when the database was restored from a backup; null if it never was.
        ALTER TABLE scopes ADD COLUMN restored_sequence bigint;
        """

    static let checksums = "ALTER TABLE edits ADD COLUMN checksum bigint NOT NULL DEFAULT 0"
}
