/// The table that version 13 added. It records the imports that accounts have requested from the server.
enum SchemaOfImports {
    static let tables = """
        -- The import of a scope. The bytes of its file are in `staged_uploads` under its ID. `done` and `total` are the progress of
        -- the current state. `attempts` counts how often a server began its work and did not end it. `preview` and `report` are JSON,
        -- as in the response of the API.
        CREATE TABLE imports (
            scope bigint PRIMARY KEY,
            id uuid NOT NULL,
            byte_count bigint NOT NULL,
            creation_date timestamptz NOT NULL,
            done bigint NOT NULL,
            total bigint NOT NULL,
            attempts bigint NOT NULL,
            requested_by bytea NOT NULL,
            state text COLLATE "C" NOT NULL,
            name text,
            preview text,
            report text,
            problem text
        );
        CREATE INDEX imports_unfinished ON imports (creation_date) WHERE state NOT IN ('done', 'failed');
        -- No statistics of `scope`, as in the other tables of scopes (SchemaOfStatistics).
        ALTER TABLE imports ALTER scope SET STATISTICS 0;
        """
}
