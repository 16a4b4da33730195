import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

@Suite("Findings of the check", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct InconsistencyTests {
    /// Damage done by a statement, and the expected finding.
    struct Damage: Sendable, CustomStringConvertible {
        let sql: String
        let sentence: String

        init(_ sql: String, _ sentence: String) {
            self.sql = sql
            self.sentence = sentence
        }

        var description: String { sql }
    }

    private static let none = "decode(repeat('00', 16), 'hex')"
    private static let unknownID = "'00000000-0000-0000-0000-000000000000'::uuid"

    private static let mismatch = "NOTE has a parcel of edits that does not match its checksum."

    static let damages = [
        Damage(
            "UPDATE objects SET body = replace(body::text, 'Milk', 'Mulk')::json WHERE section = 0",
            "NOTE differs from the fold of its edits."),
        Damage("UPDATE objects SET body = '[]' WHERE section = 0", "NOTE cannot be read."),
        Damage("UPDATE objects SET bytes = 7 WHERE section = 0", "NOTE has"),
        Damage(
            "UPDATE objects SET type = 'tag' WHERE section = 0",
            "The type of NOTE differs from that of the fold of its edits."),
        Damage("UPDATE objects SET section = 9 WHERE section = 0", "NOTE has an unknown section."),
        Damage(
            "UPDATE objects SET digest = \(none) WHERE section = 0",
            "The digest of NOTE differs from that of the fold of its edits."),
        Damage("UPDATE objects SET sequence = NULL WHERE section = 0", "NOTE exists, but has no sequence number."),
        Damage(
            "UPDATE objects SET sequence = 99 WHERE section = 0",
            "NOTE has sequence number 99, but the last one assigned is 5."),
        Damage("UPDATE objects SET sequence = 1 WHERE section = 0", "Sequence number 1 was assigned 2 times."),
        Damage(
            "DELETE FROM objects WHERE section = 0", "NOTE has edits, but is neither an object nor a DeletedObject."),
        Damage("DELETE FROM edits WHERE type = 'note'", "NOTE differs from the fold of its edits."),
        Damage("UPDATE edits SET body = '7' WHERE type = 'note'", "NOTE has a parcel of edits that cannot be read"),
        Damage(
            "UPDATE edits SET last_clock = \(none)",
            "NOTE has a parcel of edits whose clocks differ from those in the columns of its row."),
        Damage("UPDATE edits SET pushed_at = pushed_at + interval '1 second'", mismatch),
        Damage("UPDATE edits SET sequence = sequence + 1", mismatch),
        Damage("UPDATE edits SET pushed_by = decode(repeat('00', 8), 'hex')", mismatch),
        Damage("UPDATE edits SET text_origin = decode(repeat('00', 16), 'hex')", mismatch),
        Damage("UPDATE edits SET missing_ancestors = decode(repeat('00', 16), 'hex')", mismatch),
        Damage("UPDATE edits SET has_lost_words = true", mismatch),
        Damage("UPDATE edits SET is_servers = true", mismatch),
        Damage("UPDATE edits SET checksum = 7", mismatch),
        Damage("UPDATE scopes SET digest = \(none)", "The scope's digest is"),
        Damage("UPDATE scopes SET greatest_clock = \(none)", "which is greater than its recorded greatest clock."),
        Damage("DELETE FROM members", "NOTE holds TAG, but the index of members has no entry for it."),
        Damage(
            "INSERT INTO members SELECT scope, \(unknownID), id FROM objects WHERE section = 0",
            "but the index of members has an entry for it."),
        Damage("DELETE FROM tag_names", "The index of tag names has no entry for tag TAG."),
        Damage(
            "INSERT INTO tag_names SELECT scope, 'rome', id FROM objects WHERE section = 1",
            "The index of tag names has a wrong name for tag TAG."),
        Damage("UPDATE tombstones SET bytes = 7", "DEAD has"),
        Damage("UPDATE tombstones SET type = '?'", "DEAD is a DeletedObject of an unknown type."),
        Damage("UPDATE tombstones SET merged_into = \(unknownID)", "is recorded as rescued into"),
        Damage(
            """
            INSERT INTO tombstones (scope, sequence, bytes, id, deletion_date, arrival_date, type)
            SELECT scope, 4, 9, id, now(), now(), 'note' FROM objects WHERE section = 0
            """, "NOTE is both an object and a DeletedObject."),
        Damage("DELETE FROM documents", "NOTE is missing from the index of terms."),
        Damage("UPDATE documents SET archived = true", "NOTE is outdated in the index of terms."),
        Damage(
            "UPDATE terms SET lexemes = '''1:bread'':1'",
            "The terms of NOTE in the index of terms differ from those of its text."),
        Damage("DELETE FROM terms", "The terms of NOTE in the index of terms differ from those of its text."),
        Damage("UPDATE documents SET note = \(unknownID)", "is in the index of terms, but is not a note."),
        Damage(
            "UPDATE blobs SET byte_count = 4",
            "The size or digest of attachment PICTURE differs from that of its recorded bytes."),
        Damage(
            "UPDATE blobs SET sha256 = 'x'",
            "The size or digest of attachment PICTURE differs from that of its recorded bytes."),
        Damage("UPDATE scopes SET blob_bytes = 4", "The attachments have 3 bytes, but 4 are recorded."),
        Damage("UPDATE scopes SET parcel_bytes = 4", "bytes, but 4 are recorded."),
        Damage("UPDATE blobs SET unheld_since = NULL", "Attachment PICTURE is not held by an object, but"),
        Damage("DELETE FROM blobs", "Attachment PICTURE exists, but its bytes are not recorded."),
        Damage("UPDATE blobs SET attachment = (SELECT id FROM tombstones)", "DEAD is deleted, but its bytes are not."),
    ]

    /// Each damage is rolled back before the next, because creating a database for each would take longer.
    @Test("Each kind of damage is reported with the object")
    func finds() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let dead = UniqueID.random()
            let (note, tag) = try await desk.pushNoteAndTag()
            try await desk.push(desk.note(dead, "Bread", at: 2))
            try await desk.push(desk.delete(dead))
            let picture = try await desk.pushAttachment()
            _ = try await store.write { try $0.indexTerms(of: desk.scope, limit: 100) }
            #expect(try await desk.inconsistencies() == [])
            for damage in InconsistencyTests.damages {
                let sentence = damage.sentence.replacing("NOTE", with: "\(note)").replacing("TAG", with: "\(tag)")
                    .replacing("DEAD", with: "\(dead)").replacing("PICTURE", with: "\(picture)")
                let found = try await store.run { connection in
                    connection.enqueue("BEGIN")
                    try connection.execute(script: damage.sql)
                    var found: [String] = []
                    try PostgresSnapshot(connection).inconsistencies(in: desk.scope) { found.append($0) }
                    try connection.run("ROLLBACK")
                    return found
                }
                #expect(found.contains { $0.contains(sentence) }, "\(damage): \(found)")
            }
            #expect(try await desk.inconsistencies() == [])
        }
    }

    @Test("A scope that does not exist is reported")
    func unknownScope() async throws {
        try await Stores.with { stores in
            let found = try await stores.open().read { snapshot in
                var found: [String] = []
                try snapshot.inconsistencies(in: ScopeID(7)) { found.append($0) }
                return found
            }
            #expect(found == ["Scope 7 does not exist."])
        }
    }
}
