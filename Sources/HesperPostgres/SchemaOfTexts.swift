/// Columns that version 6 added for the descent of texts, and version 7 for checksums of parcels.
enum SchemaOfTexts {
    static let descent = """
        -- The concatenated clocks of ancestors of this text that the server did not have when the text arrived. Includes the
        -- text's own clock if a device pushed it again after a restore.
        ALTER TABLE edits ADD COLUMN missing_ancestors bytea;
        CREATE INDEX edits_missing_ancestors ON edits (scope, object) WHERE missing_ancestors IS NOT NULL;
        -- The sequence of the scope when the database was restored from a backup; NULL if it never was.
        ALTER TABLE scopes ADD COLUMN restored_sequence bigint;
        """

    static let checksums = "ALTER TABLE edits ADD COLUMN checksum bigint NOT NULL DEFAULT 0"
}
