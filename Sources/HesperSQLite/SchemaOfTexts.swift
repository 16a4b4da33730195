/// Columns that version 7 added for the descent of texts, and version 8 for checksums of parcels.
enum SchemaOfTexts {
    static let descent = """
        -- The concatenated clocks of ancestors of this text that the server did not have when the text arrived. Includes the
        -- text's own clock if a device pushed it again after a restore. The column is stored after the body, so an index finds
        -- the rows that have a value.
        ALTER TABLE edits ADD COLUMN missing_ancestors BLOB;
        CREATE INDEX edits_missing_ancestors ON edits (scope, object) WHERE missing_ancestors IS NOT NULL;
        -- The sequence of the scope when the database was restored from a backup; NULL if it never was.
        ALTER TABLE scopes ADD COLUMN restored_sequence INTEGER;
        """

    static let checksums = "ALTER TABLE edits ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0"
}
