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
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL,
            attachment BLOB NOT NULL,
            nonce INTEGER NOT NULL
        );

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
        -- what was deleted, attachments that no live note holds, bytes without an attachment.
        CREATE TABLE sweeps (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            object BLOB NOT NULL,
            due_date INTEGER NOT NULL,
            PRIMARY KEY (scope, object)
        ) WITHOUT ROWID;
        CREATE INDEX sweeps_date ON sweeps (due_date);

        -- When the server learned of it: the grace period begins then, whatever a client says of the date.
        ALTER TABLE tombstones ADD COLUMN arrival_date INTEGER NOT NULL DEFAULT 0;
        UPDATE tombstones SET arrival_date = deletion_date;
        -- Where the scope stood when its latest request was answered; read_sequence is what it had read before.
        ALTER TABLE devices ADD COLUMN sent_sequence INTEGER;
        -- Whether its text lost words in a merge: then no time removes it.
        ALTER TABLE edits ADD COLUMN has_lost_words INTEGER NOT NULL DEFAULT 0;
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
}
