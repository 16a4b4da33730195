/// The tables of attachments' bytes and of sweeps, which version 2 added.
enum SchemaOfAttachments {
    static let tables = """
        -- Stored bytes, at most one row per attachment. The blob store has them under a name made of scope, attachment and
        -- nonce.
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
        -- The total of byte_count, so that a quota is checked without summing.
        ALTER TABLE scopes ADD COLUMN blob_bytes INTEGER NOT NULL DEFAULT 0;

        -- Blobs without a row in `blobs` that are still to be removed from the blob store. Without a foreign key, because rows
        -- outlive the account.
        CREATE TABLE removed_blobs (
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        ) WITHOUT ROWID;

        -- Uploads that may be resumed. The bytes received so far are in a file named after the ID.
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

        -- Objects that a sweep may have to thin or remove, and when to inspect each: superseded values, edits of deleted
        -- objects, attachments that no live note holds, bytes without an attachment. `due_date` is NULL if there is nothing to
        -- wait for. Values of edits up to number `looked_at` are in `versions`.
        CREATE TABLE sweeps (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            object BLOB NOT NULL,
            due_date INTEGER,
            looked_at INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, object)
        ) WITHOUT ROWID;
        CREATE INDEX sweeps_date ON sweeps (due_date) WHERE due_date IS NOT NULL;
        -- Register values that are still in the bag, up to `looked_at`. Thinning decides by these, so that it reads each body
        -- only once. `edit` is edits.number.
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

        -- When the server received the deletion. The grace period starts then, whatever deletion date the client reported.
        ALTER TABLE tombstones ADD COLUMN arrival_date INTEGER NOT NULL DEFAULT 0;
        UPDATE tombstones SET arrival_date = deletion_date;
        DROP INDEX tombstones_type;
        CREATE INDEX tombstones_type ON tombstones (scope, type, sequence, bytes, arrival_date);
        -- The date of the request at `read_sequence`, exact to a minute, like `last_use_date`.
        ALTER TABLE devices ADD COLUMN read_date INTEGER;
        -- Whether its text lost words in a merge; then it is never thinned. The column is stored after the body, so it is read
        -- from the index alone.
        ALTER TABLE edits ADD COLUMN has_lost_words INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX edits_lost_words ON edits (scope, object) WHERE has_lost_words = 1;
        """

    /// Marks texts of which version 1 may have lost words without recording it. Only texts that several devices wrote can have
    /// lost any, so none of those that exist now is ever thinned.
    static let unknownLosses = """
        UPDATE edits SET has_lost_words = 1 WHERE text_clock IS NOT NULL AND (scope, object) IN (
            SELECT scope, object FROM edits WHERE text_clock IS NOT NULL
            GROUP BY scope, object HAVING count(DISTINCT substr(text_clock, 9)) > 1);
        """

    /// Schedules immediate sweeps of existing objects.
    static let firstSweeps = """
        INSERT INTO sweeps (scope, object, due_date)
        SELECT scope, object, 0 FROM edits GROUP BY scope, object HAVING count(*) > 1;
        INSERT OR IGNORE INTO sweeps (scope, object, due_date) SELECT scope, id, 0 FROM tombstones;
        """

    /// Rights of one process to run a task, with their end.
    static let leases = """
        CREATE TABLE leases (
            name TEXT PRIMARY KEY NOT NULL,
            holder INTEGER NOT NULL,
            end_date INTEGER NOT NULL
        );
        """

    /// Tables that version 9 added: the owner of the blob store.
    static let blobStore = """
        -- One row about the blob store. The nonces are those of its current marker and of the marker that is being written; NULL
        -- if there is none. The numbers are from the last listing of all blobs. `accepted_unknown` is the number of unknown files
        -- that an operator accepted (hesper adopt-attachments).
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

        -- Blobs without a row in `blobs`, with the time they were first seen. They are removed 30 days later.
        CREATE TABLE unknown_blobs (
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            first_seen INTEGER NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        ) WITHOUT ROWID;
        """
}
