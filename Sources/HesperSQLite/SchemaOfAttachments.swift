/// What the second version added: the bytes of attachments, and what time removes.
enum SchemaOfAttachments {
    static let tables = """
        -- Bytes that have arrived, at most once for each attachment; they lie in the blob store, under the name that scope,
        -- attachment and nonce make.
        CREATE TABLE blobs (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            arrival_date INTEGER NOT NULL,
            -- Since when no note holds the attachment; NULL while one does.
            unheld_since INTEGER
        );
        CREATE UNIQUE INDEX blobs_attachment ON blobs (scope, attachment);
        -- Their sum, so that a quota is checked without adding up.
        ALTER TABLE scopes ADD COLUMN blob_bytes INTEGER NOT NULL DEFAULT 0;

        -- Blobs that nothing knows any more and that are still to be removed from the blob store. No row of this refers to
        -- a scope: it outlives the account.
        CREATE TABLE removed_blobs (
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        ) WITHOUT ROWID;

        -- Uploads that may be resumed: what has arrived of one lies in a file that has its ID as its name.
        CREATE TABLE uploads (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            id BLOB NOT NULL,
            attachment BLOB NOT NULL,
            length INTEGER,
            sha256 TEXT,
            is_finished INTEGER NOT NULL DEFAULT 0,
            creation_date INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX uploads_id ON uploads (scope, id);
        CREATE INDEX uploads_date ON uploads (creation_date);

        -- Objects of which time may have something to remove, and when to look at each: superseded values, the edits of
        -- what was deleted, attachments that no live note holds, bytes without an attachment. `due_date` is NULL while
        -- there is nothing to wait for; up to `looked_at`, an edits.number, the values of its edits are in `versions`.
        CREATE TABLE sweeps (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            object BLOB NOT NULL,
            due_date INTEGER,
            looked_at INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, object)
        ) WITHOUT ROWID;
        CREATE INDEX sweeps_date ON sweeps (due_date) WHERE due_date IS NOT NULL;
        -- Values of registers that are still in the bag, as far as it was looked at: what thinning decides by, so that no
        -- body is read for it twice. `edit` is edits.number.
        CREATE TABLE versions (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            object BLOB NOT NULL,
            edit INTEGER NOT NULL,
            attribute TEXT NOT NULL,
            clock BLOB NOT NULL,
            pushed_at INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            PRIMARY KEY (scope, object, edit, attribute)
        ) WITHOUT ROWID;

        -- When the server learned of it: the grace period begins then, whatever a client says of the date.
        ALTER TABLE tombstones ADD COLUMN arrival_date INTEGER NOT NULL DEFAULT 0;
        UPDATE tombstones SET arrival_date = deletion_date;
        DROP INDEX tombstones_type;
        CREATE INDEX tombstones_type ON tombstones (scope, type, sequence, bytes, arrival_date);
        -- When the request was that read_sequence is of: exact to a minute, like last_use_date.
        ALTER TABLE devices ADD COLUMN read_date INTEGER;
        -- Whether its text lost words in a merge: then no time removes it. It stands behind the body, so it is read from
        -- the index alone.
        ALTER TABLE edits ADD COLUMN has_lost_words INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX edits_lost_words ON edits (scope, object) WHERE has_lost_words = 1;
        """

    /// The first version did not note which texts lost words. Only where several devices wrote can any have: there, none of
    /// those that are here is ever removed.
    static let unknownLosses = """
        UPDATE edits SET has_lost_words = 1 WHERE text_clock IS NOT NULL AND (scope, object) IN (
            SELECT scope, object FROM edits WHERE text_clock IS NOT NULL
            GROUP BY scope, object HAVING count(DISTINCT substr(text_clock, 9)) > 1);
        """

    /// What is there already and may have something that time removes is looked at soon.
    static let firstSweeps = """
        INSERT INTO sweeps (scope, object, due_date)
        SELECT scope, object, 0 FROM edits GROUP BY scope, object HAVING count(*) > 1;
        INSERT OR IGNORE INTO sweeps (scope, object, due_date) SELECT scope, id, 0 FROM tombstones;
        """

    /// Which process may do what only one does at a time, and until when.
    static let leases = """
        CREATE TABLE leases (
            name TEXT PRIMARY KEY NOT NULL,
            holder INTEGER NOT NULL,
            end_date INTEGER NOT NULL
        );
        """

    /// What the ninth version added: to whom the bytes belong.
    static let blobStore = """
        -- What is recorded of the place where the bytes of attachments are; one row. The nonces are those of the marker that
        -- stands beside them and of one that is being written; NULL: none. The numbers are those of the last walk through all
        -- bytes; `accepted_unknown` is how many unknown files an operator accepted (hesper adopt-attachments).
        CREATE TABLE blob_store (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            current_nonce INTEGER,
            next_nonce INTEGER,
            walk_date INTEGER,
            files INTEGER NOT NULL DEFAULT 0,
            bytes INTEGER NOT NULL DEFAULT 0,
            unknown_files INTEGER NOT NULL DEFAULT 0,
            unknown_bytes INTEGER NOT NULL DEFAULT 0,
            accepted_unknown INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO blob_store (one) VALUES (1);

        -- Bytes that have no row in `blobs`, and when they were seen first: they go 30 days later.
        CREATE TABLE unknown_blobs (
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            first_seen INTEGER NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        ) WITHOUT ROWID;
        """
}
