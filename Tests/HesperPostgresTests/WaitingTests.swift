import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct WaitingTests {
    @Test func lateStatementsAreCancelledAndTheConnectionRemainsUsable() async throws {
        try await onConnection { connection throws in
            let process = connection.processID
            connection.timeout = .milliseconds(300)
            for sql in ["SELECT pg_sleep(60)", "SELECT count(*) FROM generate_series(1, 10000000000)"] {
                let start = ContinuousClock.now
                let error = #expect(throws: PostgresError.self) { try connection.run(sql) }
                #expect(error?.sqlState == "57014" && error?.isConnection == false)
                #expect(ContinuousClock.now - start < .seconds(50))
            }
            connection.timeout = .seconds(10)
            #expect(try connection.first("SELECT pg_backend_pid()") { $0.integer(0) } == Int64(process))
        }
    }

    @Test func aLateStatementThatIgnoresTheCancelRequestFails() async throws {
        try await onConnection { connection throws in
            connection.timeout = .milliseconds(300)
            // Ignores the cancel request.
            let sql = "DO $$ BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END $$"
            let error = #expect(throws: PostgresError.self) { try connection.run(sql) }
            #expect(error?.sqlState == "57014")
            connection.timeout = .seconds(10)
            #expect(try connection.first("SELECT 8::bigint") { $0.integer(0) } == 8)
        }
    }

    @Test func waitingForALockTimesOut() async throws {
        let database = try await PostgresServer.running.database()
        var settings = database.settings
        settings.lockTimeout = .milliseconds(200)
        try await onThread { [settings] in
            let (one, two) = (try Connection(settings), try Connection(settings))
            try one.execute(script: "CREATE TABLE t (id bigint)")
            try one.execute(script: "INSERT INTO t VALUES (1)")
            try one.execute(script: "BEGIN; SELECT * FROM t FOR UPDATE")
            let error = #expect(throws: PostgresError.self) { try two.run("SELECT id FROM t FOR UPDATE") }
            #expect(error?.sqlState == "55P03" && error?.isRetryable == true)
            #expect(isUnavailable(error.map { StoreError($0) }))
        }
    }

    @Test func aTerminatedConnectionReportsTheReason() async throws {
        let database = try await PostgresServer.running.database()
        try await onThread {
            let (one, two) = (try Connection(database.settings), try Connection(database.settings))
            try two.run("SELECT pg_terminate_backend($1, 10000)", [.int4(one.processID)])
            #expect(!one.seemsAlive())
            for _ in 1...2 {
                let error = #expect(throws: PostgresError.self) { try one.run("SELECT 1") }
                #expect(error?.isConnection == true && error?.sqlState == "57P01", "\(error.map { "\($0)" } ?? "")")
            }
        }
    }

    @Test func aConnectionTerminatedDuringAStatementReportsTheReason() async throws {
        let database = try await PostgresServer.running.database()
        try await onThread {
            let (one, two) = (try Connection(database.settings), try Connection(database.settings))
            one.enqueue("BEGIN")
            one.enqueue("CREATE TABLE t (id bigint)")
            one.enqueue("SELECT pg_terminate_backend(pg_backend_pid())")
            one.enqueue("COMMIT")
            let error = #expect(throws: PostgresError.self) { try one.flush() }
            #expect(error?.isConnection == true && error?.sqlState == "57P01")
            #expect(one.brokenBy != nil && !one.seemsAlive())
            #expect(try two.first("SELECT to_regclass('t') IS NULL") { $0.bool(0) } == true)
        }
    }

    /// A commit that may be missing on the standbys is visible on the server. A repeated push must still not be acknowledged.
    @Test func aRepeatedPushIsNotAcknowledgedWhileStandbysMayLackIt() async throws {
        let server = try await PostgresServer()
        let database = try await server.database()
        var settings = database.settings
        settings.size = 4
        settings.statementTimeout = .seconds(2)
        let store = try await PostgresStore(settings)
        let desk = try await TestClient(store)
        @Sendable func failure(_ note: Push.Element) async -> StoreError? {
            do {
                _ = try await store.write { try desk.push([note], in: $0) }
                return nil
            } catch { return error as? StoreError }
        }
        @Sendable func configure(_ change: String) async throws {
            try await server.administer("ALTER SYSTEM \(change)")
            try await server.administer("SELECT pg_reload_conf()")
        }
        try await configure("SET synchronous_standby_names = 'missing'")
        var (note, pushed) = (desk.note(.random(), "Milk"), 1 as Int64)
        // The server's processes apply the setting one by one.
        while await failure(note) == nil, pushed < 200 { (note, pushed) = (desk.note(.random(), "Milk"), pushed + 1) }
        for _ in 1...3 {
            #expect(try await store.read { try $0.head(of: desk.scope)?.sequence } == pushed)
            let error = await failure(note)
            #expect(isUnavailable(error))
            #expect(String(describing: error).contains("standbys"))
        }
        try await configure("RESET synchronous_standby_names")
        for _ in 1...20 where await failure(note) != nil {}
        #expect(await failure(note) == nil)
        #expect(try await store.read { try $0.head(of: desk.scope)?.sequence } == pushed)
        await store.close()
    }

    /// When PostgreSQL stops waiting for a missing standby, it only sends a warning and reports COMMIT.
    @Test(arguments: ["SET statement_timeout = 0", "SET statement_timeout = 300"])
    func aCommitThatStandbysMayLackIsAnError(_ timeout: String) async throws {
        let server = try await WaitingTests.withoutStandby.value
        let settings = PostgresSettings(server.string())
        try await onThread {
            let connection = try Connection(settings)
            let table = "t\(connection.processID)"
            try connection.execute(script: "CREATE TABLE \(table) (id bigint)")
            try connection.execute(script: "SET synchronous_commit = on")
            try connection.execute(script: timeout)
            connection.timeout = .seconds(1)
            connection.enqueue("BEGIN")
            connection.enqueue("INSERT INTO \(table) VALUES (1)")
            let error = #expect(throws: PostgresError.self) { try connection.run("COMMIT") }
            #expect(error?.isRetryable == true)
            // The row exists: the outcome of such a commit is unknown to the client.
            let rows = try Connection(settings).first("SELECT count(*) FROM \(table)") { $0.int(0) }
            #expect(rows == 1)
        }
    }

    private static let withoutStandby = Task {
        try await PostgresServer(settings: ["synchronous_standby_names = 'missing'", "synchronous_commit = local"])
    }
}
