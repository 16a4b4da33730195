/// What the seventh version added, what texts descend from, and what the eighth added, checksums of parcels.
enum SchemaOfTexts {
    static let descent = """
        -- The clocks, one after the other, of texts that this text descends from and that were not here when it came; its own
        -- among them, if a device gave it back after a restore. It stands behind the body, so rows that have any are found
        -- by an index of their own.
        ALTER TABLE edits ADD COLUMN missing_ancestors BLOB;
        CREATE INDEX edits_missing_ancestors ON edits (scope, object) WHERE missing_ancestors IS NOT NULL;
        -- Where the scope stood when the database was restored from a backup; NULL if it never was.
        ALTER TABLE scopes ADD COLUMN restored_sequence INTEGER;
        """

    static let checksums = "ALTER TABLE edits ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0"
}
