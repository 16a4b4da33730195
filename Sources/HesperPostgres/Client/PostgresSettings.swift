/// The settings of connections to a server, including timeouts.
struct PostgresSettings: Sendable {
    /// A libpq connection string: `postgresql://…` or `key=value`, with one or more hosts.
    var connectionString: String
    /// The maximum number of connections in the pool.
    var size = 16
    /// The maximum number of connections that write at the same time. The other connections are reserved for reads, so that reads
    /// continue while commits wait for a standby.
    var writers: Int { max(1, size - max(2, size / 4)) }
    /// The maximum time that a request waits for a free connection.
    var checkoutTimeout: Duration = .seconds(10)
    /// The maximum time to wait for a result of the server. After this time the statement is cancelled.
    var statementTimeout: Duration = .seconds(30)
    /// The maximum time that a statement waits for a lock.
    var lockTimeout: Duration = .seconds(10)
    /// The time for which a transaction may be idle before the server ends its session. Hesper's transactions are idle for
    /// this long only if their process hangs.
    var idleInTransactionTimeout: Duration = .seconds(60)
    /// The time after which an idle connection is tested with a query before it is used.
    var idleCheckThreshold: Duration = .seconds(30)
    /// The time limit in seconds for connecting to each host, unless the connection string sets one.
    var connectTimeout = 5

    /// Whether the session acquires ``useLock``. All sessions acquire it, except the session that moves another database
    /// into this one. That session tests the lock to detect other processes that use the database.
    var takesUseLock = true

    /// The key of the advisory lock that sessions hold in shared mode if ``takesUseLock`` is true. It is "in use" in ASCII.
    static let useLock: Int64 = 0x696e_2075_7365

    /// The time in milliseconds after which the kernel closes a connection whose packets are not acknowledged. The kernel's default
    /// is 15 minutes.
    private static let tcpUserTimeout = 10_000

    init(_ connectionString: String) { self.connectionString = connectionString }

    /// The keywords and values that are passed to libpq. The connection string is the value of `dbname`. It overrides the
    /// parameters before `dbname`, but not those after it (libpq, PQconnectdbParams).
    var parameters: [(keyword: String, value: String)] {
        [
            ("connect_timeout", "\(connectTimeout)"),
            ("tcp_user_timeout", "\(PostgresSettings.tcpUserTimeout)"),
            ("keepalives_idle", "10"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            // The name of this client in `pg_stat_activity`.
            ("application_name", "hesper"),
            // A server that accepts writes is required even if there is only one host, because a load balancer or a DNS name may
            // select a standby. If the connection string or the environment sets this parameter, the value here is empty, and
            // libpq ignores it.
            ("target_session_attrs", lacksSessionAttributes ? "read-write" : ""),
            ("dbname", connectionString),
            ("client_encoding", "UTF8"),
        ]
    }

    /// The statements that set up a session. The server's statement timeout is twice ``statementTimeout``, so it takes effect
    /// only if this process cannot cancel a statement.
    ///
    /// Each statement is planned only once per session, for any arguments, because planning takes as long as executing. The plan is
    /// kept when tables grow. Therefore these settings make every statement use an index, even if its table is small when the plan
    /// is made. If the server's `synchronous_commit` is `off`, it is set to `on`, so that commits wait for the disk. Whether they
    /// also wait for standbys depends on the server's setting.
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
