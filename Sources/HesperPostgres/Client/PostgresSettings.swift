/// How connections to a server are made, and their timeouts.
struct PostgresSettings: Sendable {
    /// A libpq connection string: `postgresql://…` or `key=value`, with one or more hosts.
    var connectionString: String
    /// The maximum number of connections in the pool.
    var size = 16
    /// The maximum number of connections that write at once. The others are reserved for reads, also while commits wait.
    var writers: Int { max(1, size - max(2, size / 4)) }
    /// How long a request waits for a free connection.
    var checkoutTimeout: Duration = .seconds(10)
    /// How long one wait for the server may take before the statement is cancelled.
    var statementTimeout: Duration = .seconds(30)
    /// How long a statement waits for a lock.
    var lockTimeout: Duration = .seconds(10)
    /// How long a transaction may be idle before the server ends its session. A safety net: Hesper's transactions are never
    /// idle that long.
    var idleInTransactionTimeout: Duration = .seconds(60)
    /// A connection that has been idle this long is tested with a query before it is used.
    var idleCheckThreshold: Duration = .seconds(30)
    /// The time limit in seconds for connecting to each host, unless the connection string sets one.
    var connectTimeout = 5

    /// Whether the session takes ``useLock``. Only a move into the database does not: it requires that nothing else uses it.
    var takesUseLock = true

    /// The key of the advisory lock that every session holds in shared mode; "in use" in ASCII.
    static let useLock: Int64 = 0x696e_2075_7365

    /// Milliseconds after which a connection whose packets are not acknowledged is closed; the kernel's default is 15 minutes.
    private static let tcpUserTimeout = 10_000

    init(_ connectionString: String) { self.connectionString = connectionString }

    /// Keywords and values for libpq. The connection string overrides those before `dbname`, not those after it
    /// (libpq, PQconnectdbParams).
    var parameters: [(keyword: String, value: String)] {
        [
            ("connect_timeout", "\(connectTimeout)"),
            ("tcp_user_timeout", "\(PostgresSettings.tcpUserTimeout)"),
            ("keepalives_idle", "10"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            // Shown in `pg_stat_activity`.
            ("application_name", "hesper"),
            // Also with a single host require a server that accepts writes: a load balancer or a DNS name that is being moved
            // may lead to a standby that lags and is not promoted yet. An empty value means any server.
            ("target_session_attrs", lacksSessionAttributes ? "read-write" : ""),
            ("dbname", connectionString),
            ("client_encoding", "UTF8"),
        ]
    }

    /// The statements that set up a session. The server's statement timeout is a safety net above our own, for when this
    /// process cannot cancel.
    ///
    /// Each statement is planned once, for any arguments, because planning takes as long as executing. Plans are kept for the
    /// life of the session, so a plan must not depend on the table being small now: every statement has to use an index.
    /// Commits wait for the disk whatever the server's default is; waiting for standbys is left to the server's setting.
    var sessionScript: String {
        """
        SET statement_timeout = \(PostgresSettings.milliseconds(statementTimeout * 2));
        SET lock_timeout = \(PostgresSettings.milliseconds(lockTimeout));
        SET idle_in_transaction_session_timeout = \(PostgresSettings.milliseconds(idleInTransactionTimeout));
        SET enable_seqscan = off;
        SET enable_mergejoin = off;
        SET enable_hashjoin = off;
        SET plan_cache_mode = force_generic_plan;
        SET jit = off;
        SELECT set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false);
        \(takesUseLock ? "SELECT pg_advisory_lock_shared(\(PostgresSettings.useLock));" : "")
        """
    }

    private static func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }
}
