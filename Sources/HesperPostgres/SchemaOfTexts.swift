/// The columns for the ancestors of texts (added by version 6), for checksums of parcels (version 7), and for the texts of app
/// objects (version 12).
enum SchemaOfTexts {
    static let descent = """
        -- If the server did not have all ancestors of the parcel's text when the text arrived, this column contains the clocks of
        -- the missing ancestors, concatenated. If a device pushed the text again after a restore, the clock of the text itself is
        -- included.
        ALTER TABLE edits ADD COLUMN missing_ancestors bytea;
        CREATE INDEX edits_missing_ancestors ON edits (scope, object) WHERE missing_ancestors IS NOT NULL;
        -- The sequence that the scope had when the database was most recently restored from a backup; NULL if it never was
        -- restored.
        ALTER TABLE scopes ADD COLUMN restored_sequence bigint;
        """

    /// The column for the names of the texts of app objects. The new version number prevents earlier versions of Hesper from
    /// opening the database, because their sweepers would remove the files of app objects.
    static let names = """
        -- The name of the parcel's text, if the parcel has a text of an app's own object.
        ALTER TABLE edits ADD COLUMN text_name text;
        """

    static let checksums = "ALTER TABLE edits ADD COLUMN checksum bigint NOT NULL DEFAULT 0"
}
