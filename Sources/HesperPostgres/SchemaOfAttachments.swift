/// The bytes of attachments, and what time removes.
enum SchemaOfAttachments {
    static let blobs = """
        -- Bytes that have arrived, at most once for each attachment; they lie in the blob store, under the name that scope,
        -- attachment and nonce make. `unheld_since` is NULL while a note holds the attachment.
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
        -- Blobs that nothing knows any more and that are still to be removed from the blob store: they outlive the account.
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

        -- What has arrived of them. Their keys begin with the upload's random ID, as scopes' tables' do with the scope: whoever
        -- sweeps knows nothing else. `turn` counts the requests that took it over; only the last may add to it.
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
        -- Pictures do not get smaller.
        ALTER TABLE upload_parts ALTER bytes SET STORAGE EXTERNAL;
        CREATE INDEX uploads_open ON uploads (scope) WHERE NOT is_finished;
        """

    static let sweeps = """
        -- Objects of which time may have something to remove, and when to look at each: superseded values, the edits of what
        -- was deleted, attachments that no live note holds, bytes without an attachment. `due_date` is NULL while there is
        -- nothing to wait for; up to `looked_at`, an edits.number, the values of its edits are in `versions`.
        CREATE TABLE sweeps (
            scope bigint NOT NULL,
            object uuid NOT NULL,
            due_date timestamptz,
            looked_at bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, object)
        );
        CREATE INDEX sweeps_date ON sweeps (due_date) WHERE due_date IS NOT NULL;
        -- Values of registers that are still in the bag, as far as it was looked at: what thinning decides by, so that no
        -- body is read for it twice. `edit` is edits.number.
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

    /// What the eighth version added: to whom the bytes belong.
    static let blobStore = """
        -- What is recorded of the place where the bytes of attachments are; one row. The nonces are those of the marker that
        -- stands beside them and of one that is being written; null: none. The numbers are those of the last walk through all
        -- bytes; `accepted_unknown` is how many unknown files an operator accepted (hesper adopt-attachments).
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

        -- Bytes that have no row in `blobs`, and when they were seen first: they go 30 days later.
        CREATE TABLE unknown_blobs (
            scope bigint NOT NULL,
            attachment uuid NOT NULL,
            nonce bigint NOT NULL,
            first_seen timestamptz NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        );
        """
}

/// What the planner is not to know.
enum SchemaOfStatistics {
    /// A plan is made once for scopes of every size. From statistics of them it would take them all for as small as most
    /// are, and read the large ones as a whole; without, it takes each for the two-hundredth part of its table.
    static let statistics = tables.map { "ALTER TABLE \($0) ALTER scope SET STATISTICS 0;" }.joined(separator: "\n")

    static let tables = [
        "objects", "edits", "tombstones", "members", "tag_names", "documents", "terms", "blobs", "removed_blobs",
        "uploads", "sweeps", "versions",
    ]
}

/// Plain columns for an operator who looks with `psql`.
enum SchemaOfViews {
    /// A `json` may name U+0000, but `->>` gives no text that has it: there the views show U+FFFD.
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
