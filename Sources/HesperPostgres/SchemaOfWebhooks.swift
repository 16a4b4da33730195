/// The tables that version 14 added for webhooks.
enum SchemaOfWebhooks {
    static let tables = """
        -- Webhooks. `events` are the names of events, separated by spaces. `secret` is the key of the signatures. It is stored
        -- readable, because each request is signed with it. Events of changes up to `sequence` have been sent, and all objects
        -- that existed at `announced_sequence` have been announced. `pause_reason` is NULL if the webhook is active. It is paused
        -- too if `epoch` is not the epoch of the installation.
        CREATE TABLE webhooks (
            scope bigint NOT NULL,
            id uuid NOT NULL,
            url text NOT NULL,
            events text NOT NULL,
            tag uuid,
            secret bytea NOT NULL,
            creation_date timestamptz NOT NULL,
            epoch bigint NOT NULL,
            pause_reason text,
            sequence bigint NOT NULL,
            announced_sequence bigint NOT NULL,
            failures bigint NOT NULL,
            first_failure_date timestamptz,
            next_attempt_date timestamptz,
            PRIMARY KEY (scope, id)
        );
        CREATE INDEX webhooks_active ON webhooks (scope, id) WHERE pause_reason IS NULL;

        -- The delivery log. `number` is the order of the deliveries of a webhook. `message` is the value of the header
        -- `webhook-id`. `error` is NULL if the last attempt succeeded. The oldest rows of each webhook are deleted.
        CREATE TABLE webhook_deliveries (
            scope bigint NOT NULL,
            webhook uuid NOT NULL,
            number bigint NOT NULL,
            message text COLLATE "C" NOT NULL,
            type text COLLATE "C" NOT NULL,
            object uuid NOT NULL,
            sequence bigint NOT NULL,
            date timestamptz NOT NULL,
            attempts bigint NOT NULL,
            last_attempt_date timestamptz NOT NULL,
            status bigint,
            error text,
            PRIMARY KEY (scope, webhook, number)
        );
        CREATE UNIQUE INDEX webhook_deliveries_message ON webhook_deliveries (scope, webhook, message);
        -- No statistics of `scope`, as in the other tables of scopes (SchemaOfStatistics).
        ALTER TABLE webhooks ALTER scope SET STATISTICS 0;
        ALTER TABLE webhook_deliveries ALTER scope SET STATISTICS 0;
        """
}
