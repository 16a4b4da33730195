import Foundation
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperPostgres

/// The statements that the store contract makes the store send. None may read more than it needs, nor more than one scope.
@Suite(
    "Statements", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)),
    .serialized)
struct StatementTests {
    /// All distinct statements of the contract's cases, without those that control transactions and cursors.
    private static let all = Task {
        let log = NIOLockedValueBox<Set<String>>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for contract in StoreContract.cases {
                group.addTask {
                    try await Stores.with { stores in
                        let subject = StoreContract.Subject {
                            try await stores.open(log: { sql in log.withLockedValue { _ = $0.insert(sql) } })
                        }
                        try await contract.run(subject)
                    }
                }
            }
            try await group.waitForAll()
        }
        let cursor = #/DECLARE c[0-9]+ NO SCROLL CURSOR FOR /#
        return Set(log.withLockedValue { $0 }.map { $0.replacing(cursor, with: "") })
            .filter { sql in ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains { sql.hasPrefix($0) } }.sorted()
    }

    // MARK: One scope

    /// The tables whose keys all start with the scope.
    private static let tables = [
        "scopes", "indexing", "objects", "edits", "tombstones", "members", "tag_names", "documents", "terms", "blobs",
        "removed_blobs", "unknown_blobs", "uploads", "sweeps", "versions", "revocations", "memberships",
        "idempotency_keys", "imports", "webhooks", "webhook_deliveries",
    ]

    /// The only statements that may read all accounts, for metrics and `hesper doctor`.
    private static let totals = "SELECT (SELECT count(*) FROM accounts)"
    private static let greatestClocks = "SELECT a.email, s.greatest_clock"

    /// Statements that concern accounts or all scopes on purpose.
    private static let exceptions: [(statement: String, reason: String)] = [
        ("FROM accounts a JOIN memberships m", "the scope is not known before sign-in"),
        ("WITH account AS (", "creates an account and its scope"),
        (totals, "totals over all accounts, for metrics"),
        (greatestClocks, "the accounts with the greatest clocks, for an operator"),
        ("FROM devices d JOIN accounts a ON a.id = d.account JOIN memberships m", "finds the scope by a token"),
        ("WHERE s.id = ANY ($1)", "checks all scopes that have listeners on one server"),
        ("ORDER BY id FOR NO KEY UPDATE", "locks the scopes of the pushes in a transaction"),
        ("WHERE is_behind AND id >", "the queue of scopes to index"),
        ("FROM sweeps WHERE due_date <=", "the queue of sweeps"),
        ("UPDATE sweeps s SET due_date = $3 FROM unnest", "takes sweeps from the queue, each by its scope"),
        ("FROM revocations WHERE finish_date IS NULL", "the queue of revocations"),
        ("FROM removed_blobs WHERE scope > 0", "the queue of blobs to delete"),
        ("SELECT EXISTS (SELECT 1 FROM scopes WHERE id > 0)", "whether there is any account"),
        ("FROM unknown_blobs WHERE scope > 0", "the list of blobs without a row"),
        ("FROM uploads\nWHERE creation_date <", "the queue of abandoned uploads"),
        ("FROM imports\nWHERE state NOT IN", "the queue of unfinished imports"),
        ("FROM idempotency_keys WHERE creation_date <=", "the queue of idempotency keys that hold no more"),
        ("AND a.disabled_since IS NULL AND w.epoch = $2", "the active webhooks of all scopes"),
    ]

    @Test("Each statement names its scope for every table that it reads or writes")
    func scopes() async throws {
        let statements = try await StatementTests.all.value
        #expect(statements.count > 100)
        for table in StatementTests.tables {
            #expect(statements.contains { $0.contains(" \(table)") }, "no statement of \(table) was seen")
        }
        let mention = try Regex("(FROM|JOIN|UPDATE|INTO|USING) (\(StatementTests.tables.joined(separator: "|")))\\b")
            .wordBoundaryKind(.simple)
        let one = #"\bscope = \$1|\bid = \$1|SELECT \$1::bigint,|VALUES \(\$1|INTO removed_blobs \(.*\)\nSELECT scope,"#
        // Rows of several scopes, each with its scope.
        let several = #"SELECT \* FROM unnest\(\$1::bigint\[\]|\b(scope|id) = (n\.scope|wanted_scope)"#
        let bound = try Regex("\(one)|\(several)").wordBoundaryKind(.simple)
        for statement in statements
        where !StatementTests.exceptions.contains(where: { statement.contains($0.statement) }) {
            let (mentions, bounds) = (statement.matches(of: mention).count, statement.matches(of: bound).count)
            #expect(bounds >= mentions, "\(mentions) tables, but \(bounds) conditions on the scope: \(statement)")
        }
        for exception in StatementTests.exceptions {
            #expect(statements.contains { $0.contains(exception.statement) }, "unused exception: \(exception.reason)")
        }
    }

    // MARK: Plans

    /// Statements that sort on purpose, and how often.
    private static let sorts: [(statement: String, count: Int, reason: String)] = [
        ("::text::tsquery", 3, "a search sorts its matches, and groups the parts of long notes"),
        ("member = ANY ($", 3, "a search sorts its matches"),
        ("AS is_likely", 1, "the last step of a page of a search, whose input is in order"),
        ("ORDER BY number DESC LIMIT $4))", 1, "the numbers of one object's parcels"),
        ("ORDER BY number LIMIT $4))", 2, "the numbers of one object's parcels, and one batch of parcels"),
        ("AND member = $2 ORDER BY object", 1, "the holders of one attachment"),
        ("FROM blobs WHERE scope = $1 ORDER BY number", 1, "all blobs of a scope, for an operator"),
        ("UNION ALL (SELECT sequence", 1, "a feed merges its parts, each of which is limited to a page"),
        ("NULL AS deletion_date, digest", 1, "all digests of a scope, without bodies"),
        ("AND deleted_by = $3 AND arrival_date > $4", 1, "the few deletions by a lost device"),
        ("ORDER BY text_clock DESC LIMIT 1", 1, "the texts of one note, for a text pushed again after a restore"),
        ("ORDER BY a.email_key", 1, "all accounts, for an operator"),
        ("ORDER BY w.scope, w.id LIMIT $4", 1, "the at most 10 webhooks of each scope"),
        ("ORDER BY id", 1, "the check reads everything"), ("ORDER BY object", 1, "the check reads everything"),
        ("ORDER BY member", 1, "the check reads everything"), ("ORDER BY tag", 1, "the check reads everything"),
        ("ORDER BY attachment", 1, "the check reads everything"), ("ORDER BY d.note", 1, "the check reads everything"),
        ("HAVING count(*) > 1", 1, "the check reads everything"),
    ]

    /// Statements that read all rows of a scope in a table.
    private static let readers: [(statement: String, reason: String)] = [
        ("DELETE FROM [a-z_]+ WHERE scope = \\$1$", "erases an account"),
        ("FROM blobs WHERE scope = \\$1$", "erases an account"),
        ("FROM blobs WHERE scope = \\$1 ORDER BY", "all blobs of a scope, for an operator"),
        ("AS deletion_date, digest", "all digests of a scope"),
        ("FROM [a-z_]+\\s+WHERE scope = \\$1 ORDER BY (object|member|tag|attachment|id)", "the check reads everything"),
        ("ORDER BY d.note", "the check reads everything"),
    ]

    @Test("No statement scans a table, and none sorts many rows", arguments: [Plans.Filling.large, .small])
    fileprivate func plans(_ filling: Plans.Filling) async throws {
        let statements = try await StatementTests.all.value
        try await Stores.with { stores in
            let plans = try await Plans(stores, filling)
            // Tables of one row are scanned.
            for statement in statements
            where !statement.hasPrefix(StatementTests.totals) && !statement.hasPrefix(StatementTests.greatestClocks)
                && !statement.contains("blob_store")
            {
                let sorts = StatementTests.sorts.first { statement.contains($0.statement) }?.count ?? 0
                let isReader = try StatementTests.readers.contains { try statement.contains(Regex($0.statement)) }
                let faults = try await plans.faults(of: statement, sorts: sorts, isReader: isReader)
                #expect(faults == [], "\(statement)")
            }
        }
    }

    @Test("The reads of a push look up only the given IDs, even in a new database", arguments: Plans.Filling.allCases)
    fileprivate func lookups(_ filling: Plans.Filling) async throws {
        try await Stores.with { stores in
            let plan = try await Plans(stores, filling).plan(of: PushStatements.states)
            let conditions = plan.filter { $0.contains("Index Cond") }
            #expect(conditions.count == 2 && conditions.allSatisfy { $0.contains("AND (id = ") }, "\(plan)")
        }
    }

    @Test(
        "A search looks up each note that matches the words or tags, even in a new database",
        arguments: Plans.Filling.allCases)
    fileprivate func searches(_ filling: Plans.Filling) async throws {
        try await Stores.with { stores in
            let plans = try await Plans(stores, filling)
            for (words, tags) in [("word", nil), ("word", [UniqueID.random()]), ("", [UniqueID.random()])] {
                for order in [Search.Order.newest, .oldest, .relevance] {
                    let search = Search(query: try SearchQuery(words), order: order, limit: 10)
                    let statement = SearchStatement(search, tags: tags, in: ScopeID(1))
                    let plan = try await plans.plan(of: statement.sql)
                    let lookups = plan.indices.filter { plan[$0].contains("Scan using documents") }
                    #expect(lookups.count == 1 && plan[lookups[0] + 1].contains("AND (note = "), "\(plan)")
                    let checks = plan.indices.filter { plan[$0].contains("SubPlan") }
                    #expect(checks.isEmpty == (words.isEmpty || tags == nil), "\(plan)")
                    #expect(checks.isEmpty || plan[checks[0]...].contains { $0.contains("AND (object = ") }, "\(plan)")
                }
            }
        }
    }

    @Test("The checks detect plans that scan or sort")
    func checksDetectScansAndSorts() async throws {
        try await Stores.with { stores in
            let plans = try await Plans(stores, .large)
            for statement in [
                "SELECT id FROM objects WHERE body::text LIKE 'x'", "SELECT sum(number) FROM edits",
                "SELECT id FROM objects WHERE scope = $1 AND sequence > 1 ORDER BY bytes",
                "SELECT id FROM objects WHERE sequence = 1", "SELECT note FROM terms WHERE scope = $1 AND part = 7",
            ] {
                let faults = try await plans.faults(of: statement, sorts: 0)
                #expect(faults != [], "\(statement)")
            }
        }
    }
}

/// The plans of statements in a database with generated rows.
private struct Plans {
    let store: PostgresStore

    enum Filling: CaseIterable {
        /// Two scopes with 20,000 rows each and full statistics.
        case large
        /// 20,000 scopes of two rows: the planner's statistics when one of them grows.
        case small
        /// A few rows, as in a new database, where plans are made that are used while the database grows.
        case young

        var rows: Int { self == .young ? 8 : 40_000 }
        var scopes: Int {
            switch self {
            case .large: 2
            case .small: 20_000
            case .young: 4
            }
        }
    }

    /// The maximum cost of a step that reads a table, in PostgreSQL's units: a lookup of one row costs about 8, and reading all
    /// rows of a scope costs hundreds or thousands.
    private static let ceiling = 150.0
    /// Indexes with few entries per scope. On any other index, a step whose only condition is the scope reads all of the scope,
    /// whatever cost the planner estimates.
    private static let small = [
        "imports_pkey", "indexing_pkey", "memberships_scope", "uploads_open", "revocations_pkey", "tag_names_pkey",
        "webhooks_pkey", "webhooks_active",
    ]

    init(_ stores: Stores, _ filling: Filling) async throws {
        store = try await stores.open()
        try await store.run { connection in
            connection.timeout = .seconds(120)
            try connection.execute(script: Plans.script(filling))
        }
    }

    private static func script(_ filling: Filling) -> String {
        """
        CREATE TEMP TABLE rows AS SELECT 1 + n % \(filling.scopes) AS scope, n AS sequence,
            md5(n::text)::uuid AS id, (ARRAY['note', 'note', 'tag', 'attachment', 'board'])[1 + n % 5] AS type,
            int8send(n) || int8send(n % 3) AS clock, now() - n * interval '1 minute' AS date
        FROM generate_series(1, \(filling.rows)) n;
        INSERT INTO scopes (id, digest) SELECT DISTINCT scope, '\\x00'::bytea FROM rows;
        INSERT INTO indexing SELECT DISTINCT scope, 0 FROM rows;
        INSERT INTO objects SELECT scope, sequence, 500, id,
            (ARRAY[0, 0, 1, 2, 3])[1 + sequence % 5], type, clock, '{}' FROM rows;
        INSERT INTO tombstones SELECT scope, sequence + 10000000, 99, md5('dead' || id)::uuid, NULL, date, date, type
            FROM rows;
        INSERT INTO edits SELECT scope, sequence, sequence, date, id, false, sequence % 50 = 0, NULL, type, clock, clock,
            clock, NULL, '[]' FROM rows;
        INSERT INTO members SELECT scope, md5((sequence / 20)::text)::uuid, id FROM rows;
        INSERT INTO tag_names SELECT scope, clock, id FROM rows WHERE type = 'tag';
        INSERT INTO documents SELECT scope, date, id, sequence % 10 = 0, clock FROM rows WHERE type = 'note';
        INSERT INTO terms SELECT scope, id, 0, sequence % 100 = 0, array_to_tsvector(ARRAY[scope || ':' || left(id::text, 4)])
            FROM rows WHERE type = 'note';
        INSERT INTO blobs (scope, attachment, nonce, byte_count, arrival_date, sha256)
            SELECT scope, id, sequence, 7, date, 'x' FROM rows WHERE type = 'attachment';
        INSERT INTO removed_blobs SELECT scope, id, sequence FROM rows;
        INSERT INTO unknown_blobs SELECT scope, id, sequence, date FROM rows;
        INSERT INTO uploads SELECT scope, id, id, 9, date, true FROM rows;
        INSERT INTO sweeps SELECT scope, id, date FROM rows;
        INSERT INTO idempotency_keys SELECT scope, int8send(sequence), clock, id, date, sequence, true FROM rows;
        INSERT INTO imports SELECT n, md5('import' || n)::uuid, 9, now(), 0, 0, 0, int8send(n), 'done'
            FROM generate_series(1, 5000) n;
        INSERT INTO webhooks SELECT n, md5(n::text)::uuid, 'https://example.org/', 'note.created', NULL, '\\x00', now(), 1,
            CASE WHEN n % 2 = 0 THEN 'owner' END, 0, 0, 0 FROM generate_series(1, 5000) n;
        INSERT INTO webhook_deliveries SELECT scope, id, sequence, sequence::text, 'note.created', id, sequence, date, 1, date
            FROM rows;
        INSERT INTO versions SELECT scope, id, sequence, sequence, date, 'text', clock FROM rows;
        INSERT INTO revocations SELECT n, int8send(n), 'x', NULL, now(), now(), 0, 0,
            CASE WHEN n % 50 > 0 THEN now() END, 0, 0, 0, 0 FROM generate_series(1, 5000) n;
        INSERT INTO accounts SELECT md5('account' || n)::uuid, n, n, 'x', now() FROM generate_series(1, 100) n;
        INSERT INTO memberships SELECT md5('account' || n)::uuid, n FROM generate_series(1, 100) n;
        INSERT INTO devices (node, account, token, name, creation_date, last_use_date)
            SELECT int8send(n), md5('account' || (1 + n % 100))::uuid, int8send(n), 'x', now(), now()
            FROM generate_series(1, 5000) n;
        \(filling == .large ? statistics : "")
        ANALYZE;
        """
    }

    private static let statistics =
        SchemaOfStatistics.tables.map { "ALTER TABLE \($0) ALTER scope SET STATISTICS -1;" }.joined(separator: "\n")

    /// The generic plan of a statement.
    func plan(of statement: String) async throws -> [String] {
        let count = statement.matches(of: /\$([0-9]+)/).compactMap { Int($0.1) }.max() ?? 0
        let arguments = Array(repeating: "NULL", count: count).joined(separator: ", ")
        return try await store.run { connection in
            try connection.execute(script: "SET plan_cache_mode = force_generic_plan; PREPARE plan AS \(statement)")
            defer { connection.enqueue("DEALLOCATE plan") }
            return try connection.all("EXPLAIN EXECUTE plan\(count > 0 ? "(\(arguments))" : "")") { $0.string(0) }
        }
    }

    /// The steps of a statement's plan that scan, sort, or cost too much.
    func faults(of statement: String, sorts: Int, isReader: Bool = false) async throws -> [String] {
        let plan = try await plan(of: statement)
        let isLimited = ["LIMIT", "count(*)", "SELECT EXISTS"].contains(where: statement.contains)
        var sorts = sorts
        return plan.indices.filter { index in
            let step = plan[index]
            if step.contains(/Index Cond: \(([a-z]+\.)?scope = \$1\)/) {
                let isOneRow = Plans.small.contains { plan[max(index - 1, 0)].contains($0) }
                return !isOneRow && !isLimited && !isReader
            }
            let isScan = step.contains("Scan")
            let cost = step.firstMatch(of: /cost=[0-9.]+\.\.([0-9.]+)/).flatMap { Double($0.1) } ?? 0
            let isSort = step.contains("Sort  (")
            if isSort { sorts -= 1 }
            return step.contains("Seq Scan") || isSort && sorts < 0
                || isScan && cost > Plans.ceiling && !isLimited && !isReader
        }.map { plan.joined(separator: "\n") + "\n^ \(plan[$0])" }
    }
}
