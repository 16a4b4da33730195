/// The tables of version 1 (storage.md, Tables). IDs, digests and clocks are stored as BLOBs of 16 bytes, nodes as BLOBs of 8
/// bytes, and dates as milliseconds since 1970. The indexes of the tables with a scope's data start with the scope, so that a
/// query about one scope reads only its rows.
enum Schema {
    static let tables = """
        CREATE TABLE installation (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            epoch INTEGER NOT NULL,
            node BLOB NOT NULL
        );

        -- AUTOINCREMENT ensures that the number of an erased scope is never used again.
        CREATE TABLE scopes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            sequence INTEGER NOT NULL DEFAULT 0,
            digest BLOB NOT NULL,
            greatest_clock BLOB,
            server_clock BLOB,
            indexed_sequence INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX scopes_to_index ON scopes (id) WHERE indexed_sequence < sequence;

        CREATE TABLE accounts (
            id BLOB PRIMARY KEY NOT NULL,
            email TEXT NOT NULL,
            email_key TEXT NOT NULL UNIQUE,
            password_hash TEXT NOT NULL,
            creation_date INTEGER NOT NULL
        );
        CREATE TABLE memberships (
            account BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            PRIMARY KEY (account, scope)
        ) WITHOUT ROWID;
        CREATE INDEX memberships_scope ON memberships (scope);
        CREATE TABLE devices (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            node BLOB NOT NULL UNIQUE,
            account BLOB NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            token BLOB NOT NULL UNIQUE,
            name TEXT NOT NULL,
            app_version TEXT,
            user_agent TEXT,
            creation_date INTEGER NOT NULL,
            last_use_date INTEGER NOT NULL,
            read_sequence INTEGER
        );
        CREATE INDEX devices_account ON devices (account, number);

        -- The current state of objects. `sequence` is NULL while an object lacks the field that it needs to exist. The indexes
        -- contain `bytes`, so that the size of a download is computed without reading rows. `body` is the last column, so that
        -- the other columns can be read without reading it.
        CREATE TABLE objects (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            id BLOB NOT NULL,
            section INTEGER NOT NULL,
            type TEXT,
            sequence INTEGER,
            bytes INTEGER NOT NULL,
            digest BLOB NOT NULL,
            body TEXT NOT NULL
        );
        CREATE UNIQUE INDEX objects_id ON objects (scope, id);
        CREATE INDEX objects_sequence ON objects (scope, sequence, bytes);
        CREATE INDEX objects_type ON objects (scope, type, sequence, bytes);

        -- All edits. Each row is a parcel, which contains the edits of one object in one push. `number` is the order of arrival.
        CREATE TABLE edits (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            object BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            pushed_by BLOB,
            pushed_at INTEGER NOT NULL,
            type TEXT,
            is_servers INTEGER NOT NULL,
            first_clock BLOB,
            last_clock BLOB,
            text_clock BLOB,
            text_origin BLOB,
            body TEXT NOT NULL
        );
        CREATE INDEX edits_object ON edits (scope, object, last_clock);

        -- The DeletedObjects.
        CREATE TABLE tombstones (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            id BLOB NOT NULL,
            type TEXT NOT NULL,
            merged_into BLOB,
            deletion_date INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            deleted_by BLOB
        );
        CREATE UNIQUE INDEX tombstones_id ON tombstones (scope, id);
        CREATE INDEX tombstones_sequence ON tombstones (scope, sequence, bytes);
        CREATE INDEX tombstones_type ON tombstones (scope, type, sequence, bytes, deletion_date);
        CREATE INDEX tombstones_merged ON tombstones (scope, merged_into) WHERE merged_into IS NOT NULL;

        -- The tags and attachments (`member`) that notes (`object`) hold according to their registers, without deleted notes.
        CREATE TABLE members (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            member BLOB NOT NULL,
            object BLOB NOT NULL,
            PRIMARY KEY (scope, member, object)
        ) WITHOUT ROWID;

        CREATE TABLE tag_names (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            folded_name TEXT NOT NULL,
            tag BLOB NOT NULL,
            PRIMARY KEY (scope, folded_name)
        ) WITHOUT ROWID;

        -- The notes in the search index, which is updated after a push has been committed. If `text_clock` is not the clock of
        -- the note's text, the text has to be indexed again.
        CREATE TABLE documents (
            number INTEGER PRIMARY KEY,
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            note BLOB NOT NULL,
            sort_date INTEGER NOT NULL,
            archived INTEGER NOT NULL,
            text_clock BLOB
        );
        CREATE UNIQUE INDEX documents_note ON documents (scope, note);
        CREATE INDEX documents_date ON documents (scope, sort_date, note);

        -- The terms of each note in the search index. The row ID is documents.number. Each term has the form `scope:term`, so
        -- that a search reads only terms of its scope.
        CREATE VIRTUAL TABLE terms USING fts5 (text, tokenize = "ascii tokenchars ':'");
        """

    /// Views that show the fields of objects as columns. They are for an operator who queries the database with `sqlite3`.
    static let views = """
        CREATE VIEW notes AS SELECT
            scope, body ->> '$.uniqueID' AS id, sequence, body ->> '$.creationDate' AS creation_date,
            body ->> '$.text' AS text, body ->> '$.archived' AS archived, body ->> '$.sortDate' AS sort_date,
            body -> '$.tags' AS tags, body -> '$.attachments' AS attachments, body -> '$.attributes' AS attributes
        FROM objects WHERE section = 0;
        CREATE VIEW tags AS SELECT
            scope, body ->> '$.uniqueID' AS id, sequence, body ->> '$.name' AS name, body -> '$.attributes' AS attributes
        FROM objects WHERE section = 1;
        CREATE VIEW attachments AS SELECT
            scope, body ->> '$.uniqueID' AS id, sequence, body ->> '$.mimeType' AS mime_type, body ->> '$.width' AS width,
            body ->> '$.height' AS height, body ->> '$.filename' AS filename, body ->> '$.byteCount' AS byte_count,
            body ->> '$.sha256' AS sha256
        FROM objects WHERE section = 2;
        """
}
