/// The tables for the bytes of attachments and for sweeps, which versions 2 and 9 added.
enum SchemaOfAttachments {
    static let tables = """
        -- The blobs, at most one for each attachment. The name of a blob in the blob store consists of the scope, the attachment
        -- and the nonce.
        CREATE TABLE blobs (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            byte_count INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            arrival_date INTEGER NOT NULL,
            -- The date since when no note holds the attachment; NULL while a note holds it.
            unheld_since INTEGER
        );
        CREATE UNIQUE INDEX blobs_attachment ON blobs (scope, attachment);
        -- The sum of `byte_count` of the scope's blobs. It is stored so that the sum need not be computed when a quota is checked.
        ALTER TABLE scopes ADD COLUMN blob_bytes INTEGER NOT NULL DEFAULT 0;

        -- Blobs that were deleted from `blobs` and still have to be removed from the blob store. There is no foreign key, because
        -- the rows must remain when the account is deleted.
        CREATE TABLE removed_blobs (
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        ) WITHOUT ROWID;

        -- Uploads that clients may resume. The bytes received so far are in a file whose name is the ID.
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

        -- Objects with data that a sweep may have to remove: superseded values, edits of deleted objects, attachments that no live
        -- note holds, bytes without an attachment. `due_date` is the date of the object's next sweep; NULL if none is needed.
        -- `looked_at` is edits.number of the last edit of the object that a sweep has read. The values of all edits up to this
        -- number are in `versions`.
        CREATE TABLE sweeps (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            object BLOB NOT NULL,
            due_date INTEGER,
            looked_at INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (scope, object)
        ) WITHOUT ROWID;
        CREATE INDEX sweeps_date ON sweeps (due_date) WHERE due_date IS NOT NULL;
        -- The values of registers in the edits up to number `looked_at`, without values that were thinned. Thinning reads this
        -- table to decide which values to remove. Therefore it reads the body of each edit only once. `edit` is edits.number.
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

        -- The date on which the server received the deletion. The time for which the object can be restored starts then, not at
        -- the deletion date that the client reported.
        ALTER TABLE tombstones ADD COLUMN arrival_date INTEGER NOT NULL DEFAULT 0;
        UPDATE tombstones SET arrival_date = deletion_date;
        DROP INDEX tombstones_type;
        CREATE INDEX tombstones_type ON tombstones (scope, type, sequence, bytes, arrival_date);
        -- The date of the request in which the device read the feed up to `read_sequence`. Like `last_use_date`, it is exact to a
        -- minute.
        ALTER TABLE devices ADD COLUMN read_date INTEGER;
        -- Whether the text of the parcel lost words in a merge. Such a text is never thinned. The column is stored after the
        -- body, so it is read from its index, which avoids reading the body.
        ALTER TABLE edits ADD COLUMN has_lost_words INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX edits_lost_words ON edits (scope, object) WHERE has_lost_words = 1;
        """

    /// Marks the texts that may have lost words in a merge of version 1. Version 1 did not record such losses, so all existing
    /// texts of an object are marked if several devices have written texts of the object. Marked texts are never thinned.
    static let unknownLosses = """
        UPDATE edits SET has_lost_words = 1 WHERE text_clock IS NOT NULL AND (scope, object) IN (
            SELECT scope, object FROM edits WHERE text_clock IS NOT NULL
            GROUP BY scope, object HAVING count(DISTINCT substr(text_clock, 9)) > 1);
        """

    /// Schedules an immediate sweep of each existing object that has several parcels or is deleted.
    static let firstSweeps = """
        INSERT INTO sweeps (scope, object, due_date)
        SELECT scope, object, 0 FROM edits GROUP BY scope, object HAVING count(*) > 1;
        INSERT OR IGNORE INTO sweeps (scope, object, due_date) SELECT scope, id, 0 FROM tombstones;
        """

    /// The table of leases. A lease gives one process (`holder`) the right to run a task (`name`) until `end_date`.
    static let leases = """
        CREATE TABLE leases (
            name TEXT PRIMARY KEY NOT NULL,
            holder INTEGER NOT NULL,
            end_date INTEGER NOT NULL
        );
        """

    /// The two tables that version 9 added. One records whether the blob store belongs to this database. The other lists the files
    /// in the blob store that have no row in `blobs`.
    static let blobStore = """
        -- The state of the blob store, in one row. `current_nonce` is the nonce of its current marker, and `next_nonce` is the
        -- nonce of a marker that is being written. A nonce is NULL if the marker does not exist. `walk_date` is the date of the
        -- most recent listing of all blobs, in which the numbers of files and bytes were counted. `accepted_unknown` is the number
        -- of unknown files that an operator has accepted with `hesper adopt-attachments`.
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

        -- Files of the blob store that have no row in `blobs`. They are removed 30 days after `first_seen`.
        CREATE TABLE unknown_blobs (
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL,
            first_seen INTEGER NOT NULL,
            PRIMARY KEY (scope, attachment, nonce)
        ) WITHOUT ROWID;
        """
}
