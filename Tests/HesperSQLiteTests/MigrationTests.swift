import Foundation
import GRDB
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Migration from version 1")
struct MigrationTests {
    private let folder = Folder()

    /// Removes from a database what later versions added.
    private static let downgrade = """
        DROP TABLE blobs; DROP TABLE removed_blobs; DROP TABLE uploads; DROP TABLE sweeps; DROP TABLE versions;
        DROP TABLE blob_store; DROP TABLE unknown_blobs; DROP TABLE revocations; DROP TABLE leases; DROP TABLE tickets; DROP TABLE idempotency_keys; DROP TABLE imports; DROP TABLE webhooks; DROP TABLE webhook_deliveries; DROP INDEX edits_lost_words;
        DROP INDEX edits_missing_ancestors; DROP INDEX tombstones_type;
        ALTER TABLE edits DROP COLUMN missing_ancestors;
        ALTER TABLE edits DROP COLUMN text_name;
        ALTER TABLE edits DROP COLUMN checksum;
        ALTER TABLE scopes DROP COLUMN restored_sequence;
        ALTER TABLE scopes DROP COLUMN blob_bytes;
        ALTER TABLE scopes DROP COLUMN parcel_bytes;
        ALTER TABLE scopes DROP COLUMN quota;
        ALTER TABLE accounts DROP COLUMN disabled_since;
        ALTER TABLE scopes DROP COLUMN has_revocations;
        ALTER TABLE tombstones DROP COLUMN arrival_date;
        ALTER TABLE accounts DROP COLUMN email_verification_date;
        ALTER TABLE devices DROP COLUMN read_date;
        ALTER TABLE devices DROP COLUMN last_use_address;
        ALTER TABLE devices DROP COLUMN token_scopes;
        ALTER TABLE devices DROP COLUMN token_expiry_date;
        ALTER TABLE devices DROP COLUMN token_tag;
        ALTER TABLE edits DROP COLUMN has_lost_words;
        CREATE INDEX tombstones_type ON tombstones (scope, type, sequence, bytes, deletion_date);
        DELETE FROM members WHERE object IN (SELECT id FROM objects WHERE sequence IS NULL);
        PRAGMA user_version = 1;
        """

    /// Creates a scope with everything that the migration handles, in a database of version 1.
    private func firstVersion() async throws -> (desk: TestClient, shared: UniqueID, own: UniqueID, dead: UniqueID) {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        let (shared, own, dead, waiting) = (UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random())
        let (_, tag) = try await desk.pushNoteAndTag()
        try await desk.push(desk.note(shared, "red"), desk.note(own, "one"), desk.note(dead, "Bread"))
        try await desk.push(desk.text(own, "two", at: desk.clock(2), base: desk.clock(1)))
        // Two devices without a common base: the words of one are lost.
        var other = ClockSource(node: .random())
        let theirs = other.tick(at: UInt64(TestClient.now.milliseconds) + 3)
        try await desk.push(desk.text(shared, "green", at: theirs, base: nil))
        try await desk.push(desk.delete(dead))
        try await desk.push(
            .change(
                Change(uniqueID: waiting, section: .notes, edits: [Edit(.tag(tag), .bool(true), at: desk.clock(4))])))
        try store.close()
        try await DatabaseQueue(path: folder.database).write { try $0.execute(sql: MigrationTests.downgrade) }
        return (desk, shared, own, dead)
    }

    @Test("The downgraded database has exactly the tables and columns of version 1")
    func downgradeIsTrue() async throws {
        _ = try await firstVersion()
        let made = try DatabaseQueue()
        try await made.write {
            try $0.execute(sql: Schema.tables)
            try $0.execute(sql: Schema.views)
        }
        func columns(_ queue: DatabaseQueue) async throws -> [String] {
            try await queue.read {
                try String.fetchAll(
                    $0,
                    sql: """
                        SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
                        UNION ALL SELECT m.name || ': ' || c.name FROM sqlite_master m, pragma_index_info(m.name) c
                        ORDER BY 1
                        """)
            }
        }
        #expect(try await columns(DatabaseQueue(path: folder.database)) == columns(made))
    }

    @Test("storage.md states the current version")
    func documentedVersion() throws {
        #expect(try storagePage().contains("version of the tables, currently \(Migrations.version). Migrations run"))
    }

    @Test("A damaged database of version 1 is salvaged and migrated")
    func salvages() async throws {
        let (desk, _, _, _) = try await firstVersion()
        let copy = folder.url.appending(path: "copy").path
        try await DatabaseQueue(path: folder.database).writeWithoutTransaction {
            try $0.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        let salvaged = folder.url.appending(path: "salvaged")
        try FileManager.default.createDirectory(at: salvaged, withIntermediateDirectories: true)
        let path = salvaged.appending(path: SQLiteStore.fileName).path
        #expect(try SQLiteSalvage(of: copy, to: path, passwordHash: "$none", at: TestClient.now).run() == [])
        let scope = desk.scope
        var heads: [ScopeHead?] = []
        for folder in [folder.url, salvaged] {
            let store = try SQLiteStore(folder: folder)
            heads.append(try await store.read { try $0.head(of: scope) })
            let findings = try await store.read { snapshot in
                var findings: [String] = []
                try snapshot.inconsistencies(in: scope) { findings.append($0) }
                return findings
            }
            #expect(findings == [])
            try store.close()
        }
        #expect(heads[0] == heads[1])
    }

    @Test("The migration loses nothing, and the check finds nothing")
    func migrates() async throws {
        let (desk, shared, own, dead) = try await firstVersion()
        let store = try SQLiteStore(folder: folder.url)
        let scope = desk.scope
        let found = try await store.read { snapshot in
            var found: [String] = []
            try snapshot.inconsistencies(in: scope) { found.append($0) }
            return found
        }
        #expect(found == [])
        #expect(try await store.read { try $0.arrivalDate(ofDeleted: dead, in: scope) } == TestClient.now)
        // Version 1 did not record lost words, so no text that two devices wrote is ever thinned.
        let kept = try DatabaseQueue(path: folder.database).read {
            try Row.fetchAll($0, sql: "SELECT object, count(*) AS texts FROM edits WHERE has_lost_words = 1 GROUP BY 1")
        }
        #expect(kept.map { $0["texts"] as Int } == [2])
        #expect(kept.first.map { UniqueID(bytes: $0["object"] as Data) } == shared)
        let due = try await store.write { try $0.claimSweeps(dueBy: TestClient.now, limit: 9, until: TestClient.now) }
        #expect(Set(due.map(\.object)).isSuperset(of: [shared, own, dead]))
    }
}

extension TestClient {
    fileprivate func text(_ id: UniqueID, _ text: String, at clock: Clock, base: Clock?) -> Push.Element {
        .change(
            Change(
                uniqueID: id, section: .notes, edits: [Edit(.text, .string(text), at: clock)], textBase: base))
    }
}
