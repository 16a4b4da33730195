/// The tables of attachments' bytes and of sweeps.
enum SchemaOfAttachments {
    static let blobs = """
        -- Stored bytes, at most one row per attachment. The blob store has them under a name made of scope, attachment and
        -- nonce. `unheld_since` is NULL while a note holds the attachment.
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
        -- Blobs without a row in `blobs` that are still to be removed from the blob store. Rows outlive the account.
        CREATE TABLE removed_blobs (
            scope bigint NOT NULL,
            attachment uuid NOT NULL,
            nonce bigint NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        );
        -- Uploads that may be resumed.
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

        -- The bytes of uploads received so far. Their keys start with the upload's random ID instead of the scope, which the
        -- sweep of old uploads does not know. `turn` counts the requests that took an upload over; only the last may append.
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
        -- Without compression: most attachments are compressed already.
        ALTER TABLE upload_parts ALTER bytes SET STORAGE EXTERNAL;
        CREATE INDEX uploads_open ON uploads (scope) WHERE NOT is_finished;
        """

    static let sweeps = """
        -- Objects that a sweep may have to thin or remove, and when to inspect each: superseded values, edits of deleted objects,
        -- attachments that no live note holds, bytes without an attachment. `due_date` is NULL if there is nothing to wait for.
        -- Values of edits up to number `looked_at` are in `versions`.
        CREATE TABLE sweeps (
            scope bigint NOT NULL,
            object uuid NOT NULL,
            due_date timestamptz,
            looked_at bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, object)
        );
        CREATE INDEX sweeps_date ON sweeps (due_date) WHERE due_date IS NOT NULL;
        -- Register values that are still in the bag, up to `looked_at`. Thinning decides by these, so that it reads each body
        -- only once. `edit` is edits.number.
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

    /// Tables that version 8 added: the owner of the blob store.
    static let blobStore = """
        -- One row about the blob store. The nonces are those of its current marker and of the marker that is being written; NULL
        -- if there is none. The numbers are from the last listing of all blobs. `accepted_unknown` is the number of unknown files
        -- that an operator accepted (hesper adopt-attachments).
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

        -- Blobs without a row in `blobs`, with the time they were first seen. They are removed 30 days later.
        CREATE TABLE unknown_blobs (
            scope bigint NOT NULL,
            attachment uuid NOT NULL,
            nonce bigint NOT NULL,
            first_seen timestamptz NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        );
        """
}

/// Statistics that are turned off.
enum SchemaOfStatistics {
    /// Plans are generic. With statistics on `scope` the planner would assume that every scope is as small as most are, and read
    /// large ones completely. Without them it assumes that a scope is 1/200 of the table.
    static let statistics = tables.map { "ALTER TABLE \($0) ALTER scope SET STATISTICS 0;" }.joined(separator: "\n")

    static let tables = [
        "objects", "edits", "tombstones", "members", "tag_names", "documents", "terms", "blobs", "removed_blobs",
        "uploads", "sweeps", "versions",
    ]
}

/// Views with plain columns for an operator who queries with `psql`.
enum SchemaOfViews {
    /// A `json` may contain the escape of U+0000, which `->>` cannot convert to text. The views show U+FFFD instead.
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
