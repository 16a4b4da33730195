/// How connections to a server are made and how long they wait.
struct PostgresSettings: Sendable {
    /// Any connection string of libpq: `postgresql://…` or `key=value`, with one host or several.
    var connectionString: String
    /// How many connections the pool has at most.
    var size = 16
    /// How many of these may be used to write at once. The others are for those who read, also while commits wait.
    var writers: Int { max(1, size - max(2, size / 4)) }
    /// How long a request waits for a free connection.
    var patience: Duration = .seconds(10)
    /// How long one wait for the server may take before what it does is cancelled.
    var statementTimeout: Duration = .seconds(30)
    /// How long a statement waits for a lock that somebody else holds.
    var lockTimeout: Duration = .seconds(10)
    /// How long a transaction may stand still before the server ends its connection: ours never do.
    var idleInTransactionTimeout: Duration = .seconds(60)
    /// After how long an idle connection is asked whether it is still there.
    var trustsIdle: Duration = .seconds(30)
    /// Seconds that each host of the string has to answer in, unless the string says otherwise.
    var connectTimeout = 5

    /// Whether it is a session of those that use the database, which a move into it must not find.
    var isUse = true

    /// The key of the lock that each of these shares as long as it lasts, "in use" in ASCII: whatever they are called.
    static let use: Int64 = 0x696e_2075_7365

    /// Milliseconds after which a host that takes no packets is given up; without it the kernel tries for 15 minutes.
    private static let tcpUserTimeout = 10_000

    init(_ connectionString: String) { self.connectionString = connectionString }

    /// Keywords and values for libpq, in its order: what comes before `dbname` the string may change, what comes after
    /// it may not (libpq, PQconnectdbParams).
    var parameters: [(keyword: String, value: String)] {
        [
            ("connect_timeout", "\(connectTimeout)"),
            ("tcp_user_timeout", "\(PostgresSettings.tcpUserTimeout)"),
            ("keepalives_idle", "10"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            // As `pg_stat_activity` shows it, unless the string says otherwise.
            ("application_name", "hesper"),
            // A server that takes writes, also where there is one host: a balancer's, or a name that moves, may lead to a
            // standby which is behind, and not promoted yet. Any, says an empty value.
            ("target_session_attrs", leavesServerOpen ? "read-write" : ""),
            ("dbname", connectionString),
            ("client_encoding", "UTF8"),
        ]
    }

    /// What a session is told once. The server's own limit is only a net below ours, for when nobody is there to cancel.
    ///
    /// A statement is planned once, whatever its arguments: planning costs as much as doing it. Plans are kept for ever, so
    /// none may be made for a table as small as it once was: every statement has an index.
    /// Commits wait for the disk whatever the server's default is; whether for standbys too is for that to say.
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
        \(isUse ? "SELECT pg_advisory_lock_shared(\(PostgresSettings.use));" : "")
        """
    }

    private static func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }
}
