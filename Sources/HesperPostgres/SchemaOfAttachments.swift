/// The tables for the bytes of attachments and for sweeps.
enum SchemaOfAttachments {
    static let blobs = """
        -- The blobs, at most one for each attachment. The name of a blob in the blob store consists of the scope, the attachment
        -- and the nonce. `unheld_since` is the date since when no note holds the attachment; NULL while a note holds it.
        CREATE TABLE blobs (
            scope bigint NOT NULL,
            number bigint GENERATED ALWAYS AS IDENTITY,
            attachment uuid NOT NULL,
            nonce bigint NOT NULL,
            byte_count bigint NOT NULL,
            arrival_date timestamptz NOT NULL,
            unheld_since timestamptz,
            sha256 text COLLATE "C" NOT NULL,
            PRIMARY KEY (scope, attachment)
        );
        -- Blobs that were deleted from `blobs` and still have to be removed from the blob store. The rows remain when the account
        -- is deleted.
        CREATE TABLE removed_blobs (
            scope bigint NOT NULL,
            attachment uuid NOT NULL,
            nonce bigint NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        );
        -- Uploads that clients may resume.
        CREATE TABLE uploads (
            scope bigint NOT NULL,
            id uuid NOT NULL,
            attachment uuid NOT NULL,
            length bigint,
            creation_date timestamptz NOT NULL,
            is_finished boolean NOT NULL,
            sha256 text COLLATE "C",
            PRIMARY KEY (scope, id)
        );
        CREATE INDEX uploads_date ON uploads (creation_date);

        -- The bytes of uploads that have been received so far. The keys of these two tables start with the random ID of the
        -- upload, not with the scope, because the sweep of old uploads does not know the scope. `turn` is the number of requests
        -- that have taken over the upload. Only the most recent of them may append bytes.
        CREATE TABLE staged_uploads (
            upload uuid PRIMARY KEY,
            byte_count bigint NOT NULL DEFAULT 0,
            turn bigint NOT NULL DEFAULT 0
        ) WITH (fillfactor = 50);
        CREATE TABLE upload_parts (
            upload uuid NOT NULL,
            start bigint NOT NULL,
            bytes bytea NOT NULL,
            PRIMARY KEY (upload, start)
        );
        -- The bytes are stored without compression, because most attachments are compressed already.
        ALTER TABLE upload_parts ALTER bytes SET STORAGE EXTERNAL;
        CREATE INDEX uploads_open ON uploads (scope) WHERE NOT is_finished;
        """

    static let sweeps = """
        -- Objects with data that a sweep may have to remove: superseded values, edits of deleted objects, attachments that no live
        -- note holds, bytes without an attachment. `due_date` is the date of the object's next sweep; NULL if none is needed.
        -- `looked_at` is edits.number of the last edit of the object that a sweep has read. The values of all edits up to this
        -- number are in `versions`.
        CREATE TABLE sweeps (
            scope bigint NOT NULL,
            object uuid NOT NULL,
            due_date timestamptz,
            looked_at bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, object)
        );
        CREATE INDEX sweeps_date ON sweeps (due_date) WHERE due_date IS NOT NULL;
        -- The values of registers in the edits up to number `looked_at`, without values that were thinned. Thinning reads this
        -- table to decide which values to remove. Therefore it reads the body of each edit only once. `edit` is edits.number.
        CREATE TABLE versions (
            scope bigint NOT NULL,
            object uuid NOT NULL,
            edit bigint NOT NULL,
            sequence bigint NOT NULL,
            pushed_at timestamptz NOT NULL,
            attribute text COLLATE "C" NOT NULL,
            clock bytea NOT NULL,
            PRIMARY KEY (scope, object, edit, attribute)
        );
        """

    /// The two tables that version 8 added. One records whether the blob store belongs to this database. The other lists the files
    /// in the blob store that have no row in `blobs`.
    static let blobStore = """
        -- The state of the blob store, in one row. `current_nonce` is the nonce of its current marker, and `next_nonce` is the
        -- nonce of a marker that is being written. A nonce is NULL if the marker does not exist. `walk_date` is the date of the
        -- most recent listing of all blobs, in which the numbers of files and bytes were counted. `accepted_unknown` is the number
        -- of unknown files that an operator has accepted with `hesper adopt-attachments`.
        CREATE TABLE blob_store (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            current_nonce bigint,
            next_nonce bigint,
            walk_date timestamptz,
            files bigint NOT NULL DEFAULT 0,
            bytes bigint NOT NULL DEFAULT 0,
            unknown_files bigint NOT NULL DEFAULT 0,
            unknown_bytes bigint NOT NULL DEFAULT 0,
            accepted_unknown bigint NOT NULL DEFAULT 0
        );
        INSERT INTO blob_store DEFAULT VALUES;

        -- Files of the blob store that have no row in `blobs`. They are removed 30 days after `first_seen`.
        CREATE TABLE unknown_blobs (
            scope bigint NOT NULL,
            attachment uuid NOT NULL,
            nonce bigint NOT NULL,
            first_seen timestamptz NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        );
        """
}

/// Turns off the planner statistics of the column `scope`.
enum SchemaOfStatistics {
    /// A plan is made once and used for all scopes. Most scopes are small. With statistics on `scope`, the planner would assume
    /// that every scope is small, and its plans would read large scopes completely. Without statistics, it assumes that a scope has
    /// 1/200 of the table's rows.
    static let statistics = tables.map { "ALTER TABLE \($0) ALTER scope SET STATISTICS 0;" }.joined(separator: "\n")

    static let tables = [
        "objects", "edits", "tombstones", "members", "tag_names", "documents", "terms", "blobs", "removed_blobs",
        "uploads", "sweeps", "versions",
    ]
}

/// Views that show the fields of objects as columns. They are for an operator who queries the database with `psql`.
enum SchemaOfViews {
    /// Replaces the escape of U+0000 in a body with the escape of U+FFFD, because `->>` cannot convert U+0000 to text.
    private static let readable = #"LATERAL (SELECT replace(body::text, '\u0000', '\ufffd')::json AS body) AS plain"#

    static let views = """
        CREATE VIEW notes AS SELECT
            scope, id, sequence, (plain.body ->> 'creationDate')::timestamptz AS creation_date,
            plain.body ->> 'text' AS text, (plain.body ->> 'archived')::boolean AS archived,
            (plain.body ->> 'sortDate')::timestamptz AS sort_date, plain.body -> 'tags' AS tags,
            plain.body -> 'attachments' AS attachments, plain.body -> 'attributes' AS attributes
        FROM objects, \(readable) WHERE section = 0;
        CREATE VIEW tags AS SELECT
            scope, id, sequence, plain.body ->> 'name' AS name, plain.body -> 'attributes' AS attributes
        FROM objects, \(readable) WHERE section = 1;
        CREATE VIEW attachments AS SELECT
            scope, id, sequence, plain.body ->> 'mimeType' AS mime_type, (plain.body ->> 'width')::bigint AS width,
            (plain.body ->> 'height')::bigint AS height, plain.body ->> 'filename' AS filename,
            (plain.body ->> 'byteCount')::bigint AS byte_count, plain.body ->> 'sha256' AS sha256
        FROM objects, \(readable) WHERE section = 2;
        """
}
