/// The columns that versions 7, 8 and 13 added: for the ancestors of texts, for checksums of parcels, and for the texts of app
/// objects.
enum SchemaOfTexts {
    static let descent = """
        -- If the server did not have all ancestors of the parcel's text when the text arrived, this column contains the clocks of
        -- the missing ancestors, concatenated. If a device pushed the text again after a restore, the clock of the text itself is
        -- included. The column is stored after the body, so rows that have a value are found in an index, which avoids reading the
        -- bodies.
        ALTER TABLE edits ADD COLUMN missing_ancestors BLOB;
        CREATE INDEX edits_missing_ancestors ON edits (scope, object) WHERE missing_ancestors IS NOT NULL;
        -- The sequence that the scope had when the database was most recently restored from a backup; NULL if it never was
        -- restored.
        ALTER TABLE scopes ADD COLUMN restored_sequence INTEGER;
        """

    /// The column of version 13. Earlier versions must not open the database after this migration, because their sweepers would
    /// remove the files of app objects.
    static let names = """
        -- The name of the parcel's text, if the parcel has a text of an app's own object.
        ALTER TABLE edits ADD COLUMN text_name TEXT;
        """

    static let checksums = "ALTER TABLE edits ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0"
}
