/// The tables that version 15 added for webhooks.
enum SchemaOfWebhooks {
    static let tables = """
        -- Webhooks. `events` are the names of events, separated by spaces. `secret` is the key of the signatures. It is stored
        -- readable, because each request is signed with it. Events of changes up to `sequence` have been sent, and all objects
        -- that existed at `announced_sequence` have been announced. `pause_reason` is NULL if the webhook is active. It is paused
        -- too if `epoch` is not the epoch of the installation.
        CREATE TABLE webhooks (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            id BLOB NOT NULL,
            url TEXT NOT NULL,
            events TEXT NOT NULL,
            tag BLOB,
            secret BLOB NOT NULL,
            creation_date INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            pause_reason TEXT,
            sequence INTEGER NOT NULL,
            announced_sequence INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            first_failure_date INTEGER,
            next_attempt_date INTEGER,
            PRIMARY KEY (scope, id)
        ) WITHOUT ROWID;
        CREATE INDEX webhooks_active ON webhooks (scope, id) WHERE pause_reason IS NULL;

        -- The delivery log. `number` is the order of the deliveries of a webhook. `message` is the value of the header
        -- `webhook-id`. `error` is NULL if the last attempt succeeded. The oldest rows of each webhook are deleted.
        CREATE TABLE webhook_deliveries (
            scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
            webhook BLOB NOT NULL,
            number INTEGER NOT NULL,
            message TEXT NOT NULL,
            type TEXT NOT NULL,
            object BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            date INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            last_attempt_date INTEGER NOT NULL,
            status INTEGER,
            error TEXT,
            PRIMARY KEY (scope, webhook, number)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX webhook_deliveries_message ON webhook_deliveries (scope, webhook, message);
        """
}
