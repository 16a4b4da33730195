import Foundation
import GRDB
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import StoreContract
import Testing

@testable import HesperSQLite

/// Limits on the cost of statements: those of sync, changes and feeds scan no table or index, and do not sort.
@Suite("Query plans")
struct QueryPlanTests {
    private let folder = Folder()

    @Test("Statements of sync, changes and feeds only search indexes")
    func pathsOfSync() async throws {
        let log = StatementLog()
        let store = try SQLiteStore(folder: folder.url, prepare: { log.watch($0) })
        let desk = try await TestClient(store)
        log.begin()
        try await desk.everythingThatSyncDoes()
        let statements = log.end()
        #expect(statements.count > 30)
        for table in ["objects", "tombstones", "edits", "members", "tag_names", "scopes", "devices", "revocations"] {
            #expect(statements.contains { $0.contains(table) }, "no statement of \(table) was seen")
        }
        let plans = try await Plans(folder.database)
        for statement in statements { #expect(try await plans.faults(of: statement) == [], "\(statement)") }
        // One row per requested device, however many were revoked.
        let ofDevices = statements.filter { $0.contains("FROM revocations") && !$0.contains("finish_date IS NULL") }
        #expect(ofDevices.count == 1)
        for statement in ofDevices {
            #expect(
                try await plans.plan(of: statement) == ["SEARCH revocations USING PRIMARY KEY (scope=? AND node=?)"])
        }
    }

    @Test("Statements of the sweeper only search indexes")
    func sweeps() async throws {
        let log = StatementLog()
        let desk = try await SweepDesk(prepare: { log.watch($0) })
        log.begin()
        let (note, dead, held, unheld) = (UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random())
        for picture in [held, unheld, .random()] { try await desk.bytes(for: picture) }
        try await desk.push(
            desk.note(note, "x"), desk.note(dead, "y"), desk.picture(held), desk.picture(unheld),
            desk.change(note, .notes, Edit(.attachment(held), .bool(true), at: desk.clock())))
        // Texts without a known base lose words.
        for index in 0..<9 {
            desk.pass(1_000)
            try await desk.push(
                desk.text(note, "x\(index)", by: NodeID(UInt64(index))),
                desk.change(note, .notes, Edit(.custom("place"), .integer(Int64(index)), at: desk.clock())))
        }
        try await desk.push(desk.delete(dead))
        try await desk.read(desk.node, upTo: 1)
        let upload = Upload(uniqueID: .random(), attachment: .random(), length: 9, sha256: nil, creationDate: desk.now)
        try await desk.store.write { try $0.insert(upload, in: desk.scope) }
        try await desk.keepIdempotencyRecord(1)
        await desk.blobs.put(BlobName(scope: desk.scope, attachment: .random()), desk.now)
        let sweeper = desk.sweeper()
        for _ in 0..<3 { try await desk.sweep(after: 40 * Timestamp.day, with: sweeper) }
        try await desk.store.write { try $0.endLease("sweeper", of: 1) }
        let statements = log.end().filter { !QueryPlanTests.isOfCheck($0) }
        let plans = try await Plans(desk.folder.database)
        for what in [
            "FROM sweeps WHERE due_date", "DELETE FROM sweeps", "INTO versions", "DELETE FROM versions",
            "FROM versions WHERE", "edits_lost_words", "DELETE FROM edits", "UPDATE edits SET body",
            "FROM removed_blobs",
            "DELETE FROM removed_blobs", "FROM unknown_blobs", "INTO unknown_blobs", "DELETE FROM unknown_blobs",
            "FROM blob_store", "UPDATE blob_store", "DELETE FROM uploads", "FROM uploads", "INTO leases",
            "DELETE FROM leases", "FROM idempotency_keys WHERE creation_date", "INTO idempotency_keys",
            "DELETE FROM idempotency_keys",
            "min(pushed_at)", "UPDATE edits SET has_lost_words", "FROM memberships m JOIN devices",
        ] {
            #expect(statements.contains { $0.contains(what) }, "no statement with \(what) was seen")
        }
        for statement in statements { #expect(try await plans.faults(of: statement) == [], "\(statement)") }
    }

    @Test("A search for words starts with the words, on every page")
    func searches() async throws {
        let log = StatementLog()
        let desk = try await TestClient(try SQLiteStore(folder: folder.url, prepare: { log.watch($0) }))
        let (note, tag) = try await desk.pushNoteAndTag()
        log.begin()
        for order in [Search.Order.newest, .oldest, .relevance] {
            for start in [nil, SearchPosition.behind(sortDate: TestClient.now, note: note), .past(1)] {
                let search = Search(query: try SearchQuery("milk"), tags: [tag], order: order, start: start, limit: 9)
                _ = try await desk.store.read { try $0.search(search, in: desk.scope).found.count }
            }
        }
        let statements = log.end().filter { $0.contains("terms MATCH") }
        #expect(statements.count == 6)
        for statement in statements {
            let plan = try await Plans(folder.database).plan(of: statement)
            #expect(plan[0].hasPrefix("SCAN terms VIRTUAL TABLE INDEX"), "\(plan)")
            #expect(plan[1] == "SEARCH d USING INTEGER PRIMARY KEY (rowid=?)", "\(plan)")
        }
    }

    @Test("A list of notes reads only its page, from the index of dates")
    func lists() async throws {
        let log = StatementLog()
        let desk = try await TestClient(try SQLiteStore(folder: folder.url, prepare: { log.watch($0) }))
        let (note, _) = try await desk.pushNoteAndTag()
        log.begin()
        for order in [Search.Order.newest, .oldest] {
            for start in [nil, SearchPosition.behind(sortDate: TestClient.now, note: note)] {
                let search = Search(query: try SearchQuery(""), order: order, start: start, limit: 9)
                _ = try await desk.store.read { try $0.search(search, in: desk.scope).found.count }
            }
        }
        let statements = log.end().filter { $0.contains("FROM documents d") }
        #expect(statements.count == 4)
        for statement in statements {
            let plan = try await Plans(folder.database).plan(of: statement)
            #expect(plan.count == 1)
            #expect(plan[0].hasPrefix("SEARCH d USING COVERING INDEX documents_date (scope=?"), "\(plan)")
        }
    }

    /// The check reads all rows in the order of IDs on purpose, and sums read all rows of a scope.
    private static func isOfCheck(_ statement: String) -> Bool {
        ["id", "object", "object, number", "member", "tag", "attachment"].contains {
            statement.hasSuffix("ORDER BY \($0)")
        }
            || statement.contains("HAVING count(*) > 1") || statement.contains("FROM documents d LEFT JOIN")
            || statement.hasPrefix("SELECT sum(") || statement.hasPrefix("SELECT count(")
    }

    @Test(
        "The checks detect plans that scan or sort",
        arguments: [
            "SELECT * FROM objects WHERE body LIKE 'x'", "SELECT count(*) FROM edits",
            "SELECT id FROM objects WHERE scope = 1 AND sequence > 1 ORDER BY bytes",
            "SELECT * FROM objects WHERE sequence = 1",
        ])
    func checksDetectScansAndSorts(statement: String) async throws {
        _ = try SQLiteStore(folder: folder.url)
        #expect(try await Plans(folder.database).faults(of: statement) != [])
    }
}

extension TestClient {
    fileprivate func everythingThatSyncDoes() async throws {
        let (first, second) = try await pushNoteAndTag()
        let (third, board) = (UniqueID.random(), UniqueID.random())
        try await push(note(third, "Bread"), object(board, type: "board"), tag(.random(), "Rome"))
        // Concurrent texts, repeated edits, renames, name clashes, attachments, deletions.
        try await push(note(first, "Milk and bread", at: 5), note(first, "Milk", at: 1), tag(second, "Lyon", at: 6))
        try await push(tag(.random(), "Lyon", at: 7))
        try await push(
            .change(
                Change(
                    uniqueID: third, section: .notes, edits: [Edit(.attachment(.random()), .bool(true), at: clock(8))]))
        )
        try await push(
            .change(
                Change(
                    uniqueID: first, section: .notes, edits: [Edit(.text, .string("Soup"), at: clock(9))],
                    textBase: clock(1))))
        try await push(delete(third), delete(board, ObjectType("board") ?? .note), delete(.random(), .tag))
        try await store.write { transaction in
            try? transaction.savepoint {
                try push([note(.random(), "Undone", at: 9)], in: transaction)
                throw CancellationError()
            }
            _ = try transaction.bag(of: scope).holders(of: second)
            _ = try transaction.bag(of: scope).parcels(of: first, holding: clock(1))
            _ = try transaction.bag(of: scope).newest(.text, of: first, by: node, before: clock(9))
            _ = try transaction.bag(of: scope).descents(of: .text, of: first)
            _ = try transaction.bag(of: scope).current(.text, of: first, at: 1)
            _ = try transaction.bag(of: scope).parcels(rescuedInto: first, holding: clock(1))
            _ = try transaction.bag(of: scope).tag(named: "lyon")
            try transaction.put(
                Revocation(
                    of: .random(), named: "phone", in: scope, by: node, at: TestClient.now, since: TestClient.now))
            try transaction.recordUse(
                of: node, at: TestClient.now, appVersion: nil, userAgent: nil, address: nil, readSequence: 1)
        }
        _ = try await store.session(of: token)
        let epoch = store.installation.epoch
        let boards = Selection.types(Set([.note, ObjectType("board")].compactMap(\.self)))
        for selection in [.all, .notes, .tags, .attachments, .objects, .deletedObjects, boards] as [Selection] {
            var token: SyncToken?
            // At most 50 pages: each has at least one of a few objects.
            for _ in 0..<50 {
                let since = token
                let page = try await store.read {
                    var sink = NoSink()
                    return try Feed(selection, limit: 1).page(
                        since: since, of: scope, epoch: epoch, including: [first], in: $0, into: &sink)
                }
                token = page.token
                if !page.hasMore { break }
            }
            let since = SyncToken(epoch: epoch, scope: scope, selection: selection, position: .after(1))
            _ = try await store.read {
                var sink = NoSink()
                return try Feed(selection, limit: 1).page(since: since, of: scope, epoch: epoch, in: $0, into: &sink)
            }
        }
        _ = try await store.read { snapshot in
            _ = try snapshot.state(of: first, in: scope)
            _ = try snapshot.history(of: first, in: scope, before: nil, limit: 9)
            _ = try snapshot.mergedFrom(second, in: scope)
            _ = try snapshot.openRevocations(limit: 9)
            _ = try snapshot.revocations(of: [node, .random()], in: scope)
            _ = try snapshot.hasTrace(of: .random(), in: scope)
            _ = try snapshot.objects(in: scope, beyond: 0, pushedBy: node, after: TestClient.now, limit: 9)
            _ = try snapshot.deletions(by: node, after: TestClient.now, in: scope, before: nil, limit: 9)
            _ = try snapshot.deletedNotes(in: scope, since: TestClient.now, before: nil, limit: 9)
            _ = try snapshot.scopesToIndex(after: nil, limit: 9)
            try snapshot.digests(in: scope, prefix: "a") { _, _, _ in }
            return try snapshot.devices(of: account.uniqueID, tokens: true, after: node, limit: 9).count
        }
    }
}

private struct NoSink: PageSink {
    func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind) {}
}

/// Records the text of every executed statement.
private final class StatementLog: Sendable {
    private let statements = NIOLockedValueBox<Set<String>?>(nil)

    func watch(_ database: Database) {
        database.trace { event in
            guard case .statement(let statement) = event else { return }
            // Excludes statements inside virtual tables, which are reported as comments or name those tables' own tables, and
            // GRDB's queries of the schema.
            let sql = statement.sql
            guard !sql.hasPrefix("--"), !sql.contains("sqlite_master"), !sql.contains("'terms_") else { return }
            self.statements.withLockedValue { _ = $0?.insert(sql) }
        }
    }

    func begin() { statements.withLockedValue { $0 = [] } }

    func end() -> [String] {
        statements.withLockedValue { statements in
            defer { statements = nil }
            return (statements ?? []).sorted()
        }
    }
}

private struct Plans {
    let queue: DatabaseQueue

    init(_ path: String) async throws { queue = try DatabaseQueue(path: path) }

    func plan(of statement: String) async throws -> [String] {
        try await queue.read { database in
            let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
            // The plan does not depend on the arguments.
            plan.setUncheckedArguments(StatementArguments())
            return try Row.fetchAll(plan).map { $0["detail"] as String }
        }
    }

    /// The steps of a statement's plan that scan or sort.
    func faults(of statement: String) async throws -> [String] {
        guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(where: statement.hasPrefix) else { return [] }
        return try await plan(of: statement).filter { step in
            let isVirtual = step.contains("VIRTUAL TABLE")
            return (step.hasPrefix("SCAN") && !isVirtual && step != "SCAN CONSTANT ROW") || step.contains("TEMP B-TREE")
                || step.contains("AUTOMATIC")
        }
    }
}
