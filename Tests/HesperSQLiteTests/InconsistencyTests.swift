import Foundation
import GRDB
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Findings of the check")
struct InconsistencyTests {

    static let damages =
        Damage.onBothStores + [
            Damage(
                "UPDATE objects SET body = replace(body, 'Milk', 'Mulk') WHERE section = 0",
                "NOTE differs from the fold of its edits."),
            Damage("UPDATE objects SET body = '{' WHERE section = 0", "NOTE cannot be read."),
            Damage(
                "UPDATE objects SET digest = zeroblob(16) WHERE section = 0",
                "The digest of NOTE differs from that of the fold of its edits."),
            Damage("UPDATE edits SET body = 'x' WHERE type = 'note'", "NOTE has a parcel of edits that cannot be read"),
            Damage(
                "UPDATE edits SET last_clock = zeroblob(16)",
                "NOTE has a parcel of edits whose clocks differ from those in the columns of its row."),
            Damage("UPDATE edits SET pushed_at = pushed_at + 1000", Damage.mismatch),
            Damage("UPDATE edits SET pushed_by = zeroblob(8)", Damage.mismatch),
            Damage("UPDATE edits SET text_origin = zeroblob(16)", Damage.mismatch),
            Damage("UPDATE edits SET missing_ancestors = zeroblob(16)", Damage.mismatch),
            Damage("UPDATE edits SET has_lost_words = 1", Damage.mismatch),
            Damage("UPDATE edits SET is_servers = 1", Damage.mismatch),
            Damage("UPDATE scopes SET digest = zeroblob(16)", "The scope's digest is"),
            Damage(
                "UPDATE scopes SET greatest_clock = zeroblob(16)", "which is greater than its recorded greatest clock."),
            Damage(
                "INSERT INTO members SELECT scope, zeroblob(16), id FROM objects WHERE section = 0",
                "but the index of members has an entry for it."
            ),
            Damage("UPDATE tombstones SET merged_into = zeroblob(16)", "is recorded as rescued into"),
            Damage(
                "INSERT INTO tombstones SELECT NULL, scope, id, 'note', NULL, 0, 4, 9, NULL, 0 FROM objects WHERE section = 0",
                "NOTE is both an object and a DeletedObject."),
            Damage("UPDATE documents SET archived = 1", "NOTE is outdated in the index of terms."),
            Damage(
                "UPDATE terms SET text = '1:bread'",
                "The terms of NOTE in the index of terms differ from those of its text."
            ),
            Damage(
                "UPDATE documents SET note = zeroblob(16)",
                "00000000-0000-0000-0000-000000000000 is in the index of terms, but is not a note."),
        ]

    @Test("Each kind of damage is reported with the object", arguments: damages)
    func finds(damage: Damage) async throws {
        let folder = Folder()
        let desk = try await TestClient(SQLiteStore(folder: folder.url))
        let dead = UniqueID.random()
        let (note, tag) = try await desk.pushNoteAndTag()
        try await desk.push(desk.note(dead, "Bread", at: 2))
        try await desk.push(desk.delete(dead))
        let picture = try await desk.pushAttachment()
        _ = try await desk.store.write { try $0.indexTerms(of: desk.scope, limit: 100) }
        #expect(try await desk.inconsistencies() == [])
        try await DatabaseQueue(path: folder.database).write { try $0.execute(sql: damage.sql) }
        let sentence = damage.sentence.replacing("NOTE", with: "\(note)").replacing("TAG", with: "\(tag)")
            .replacing("DEAD", with: "\(dead)").replacing("PICTURE", with: "\(picture)")
        let found = try await desk.inconsistencies()
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test(
        "Damage to the search index is reported",
        arguments: [
            "UPDATE terms_data SET block = replace(block, CAST('milk' AS BLOB), CAST('mulk' AS BLOB)) WHERE id > 10",
            "UPDATE terms_idx SET pgno = 6", "UPDATE terms_docsize SET sz = x'09'", "DELETE FROM terms_docsize",
        ])
    func findsDamagedIndex(sql: String) async throws {
        let folder = Folder()
        let desk = try await TestClient(SQLiteStore(folder: folder.url))
        _ = try await desk.pushNoteAndTag()
        #expect(try await desk.store.fileDamage() == [])
        let changed = try await DatabaseQueue(path: folder.database).write { database in
            try database.execute(sql: sql)
            return database.changesCount
        }
        #expect(changed > 0)
        let found = try await desk.store.fileDamage()
        #expect(found.contains { $0.contains("search index") }, "\(found)")
    }

    @Test("Damage to an edit is still found after one of its values was thinned")
    func survivesThinning() async throws {
        let folder = Folder()
        let desk = try await TestClient(SQLiteStore(folder: folder.url))
        let (note, _) = try await desk.pushNoteAndTag()
        try await DatabaseQueue(path: folder.database).write {
            try $0.execute(sql: "UPDATE edits SET pushed_at = pushed_at + 1 WHERE type = 'note'")
        }
        let sweep = DueSweep(scope: desk.scope, object: note, position: 0, claim: TestClient.now)
        try await desk.store.write { transaction in
            let edits = try transaction.edits(of: note, in: desk.scope, after: 0, limit: 9, bytes: 1_000).edits
            for edit in edits { try transaction.drop(edit, of: sweep) }
        }
        let found = try await desk.inconsistencies()
        #expect(found.contains("\(note) has a parcel of edits that does not match its checksum."), "\(found)")
    }

    @Test("A value of another type than its column is reported")
    func findsOtherTypes() async throws {
        let folder = Folder()
        let desk = try await TestClient(SQLiteStore(folder: folder.url))
        _ = try await desk.pushNoteAndTag()
        try await DatabaseQueue(path: folder.database).write {
            try $0.execute(sql: "UPDATE objects SET body = CAST(body AS BLOB) WHERE section = 0")
        }
        #expect(
            try await desk.store.fileDamage() == ["Values in objects.body whose type is not that of the column: 1."])
    }

    @Test("A scope that does not exist is reported")
    func unknownScope() async throws {
        let folder = Folder()
        let store = try SQLiteStore(folder: folder.url)
        let found = try await store.read { snapshot in
            var found: [String] = []
            try snapshot.inconsistencies(in: ScopeID(7)) { found.append($0) }
            return found
        }
        #expect(found == ["Scope 7 does not exist."])
    }
}
