/// The table that version 14 added. It records the imports that accounts have requested from the server.
enum SchemaOfImports {
    static let tables = """
        -- The import of a scope. The bytes of its file are in a staged upload whose name is the ID. `done` and `total` are the
        -- progress of the current state. `attempts` counts how often the server began its work and did not end it. `preview` and
        -- `report` are JSON, as in the response of the API.
        CREATE TABLE imports (
            scope INTEGER PRIMARY KEY REFERENCES scopes (id) ON DELETE CASCADE,
            id BLOB NOT NULL,
            name TEXT,
            byte_count INTEGER NOT NULL,
            creation_date INTEGER NOT NULL,
            requested_by BLOB NOT NULL,
            state TEXT NOT NULL,
            done INTEGER NOT NULL,
            total INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            preview TEXT,
            report TEXT,
            problem TEXT
        );
        CREATE INDEX imports_unfinished ON imports (creation_date) WHERE state NOT IN ('done', 'failed');
        """
}
