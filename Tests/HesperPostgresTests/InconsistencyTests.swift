import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

@Suite("Findings of the check", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct InconsistencyTests {
    private static let none = "decode(repeat('00', 16), 'hex')"
    private static let unknownID = "'00000000-0000-0000-0000-000000000000'::uuid"

    static let damages =
        Damage.onBothStores + [
            Damage(
                "UPDATE objects SET body = replace(body::text, 'Milk', 'Mulk')::json WHERE section = 0",
                "NOTE differs from the fold of its edits."),
            Damage("UPDATE objects SET body = '[]' WHERE section = 0", "NOTE cannot be read."),
            Damage(
                "UPDATE objects SET digest = \(none) WHERE section = 0",
                "The digest of NOTE differs from that of the fold of its edits."),
            Damage("UPDATE edits SET body = '7' WHERE type = 'note'", "NOTE has a parcel of edits that cannot be read"),
            Damage(
                "UPDATE edits SET last_clock = \(none)",
                "NOTE has a parcel of edits whose clocks differ from those in the columns of its row."),
            Damage("UPDATE edits SET pushed_at = pushed_at + interval '1 second'", Damage.mismatch),
            Damage("UPDATE edits SET pushed_by = decode(repeat('00', 8), 'hex')", Damage.mismatch),
            Damage("UPDATE edits SET text_origin = decode(repeat('00', 16), 'hex')", Damage.mismatch),
            Damage("UPDATE edits SET missing_ancestors = decode(repeat('00', 16), 'hex')", Damage.mismatch),
            Damage("UPDATE edits SET has_lost_words = true", Damage.mismatch),
            Damage("UPDATE edits SET is_servers = true", Damage.mismatch),
            Damage("UPDATE scopes SET digest = \(none)", "The scope's digest is"),
            Damage("UPDATE scopes SET greatest_clock = \(none)", "which is greater than its recorded greatest clock."),
            Damage(
                "INSERT INTO members SELECT scope, \(unknownID), id FROM objects WHERE section = 0",
                "but the index of members has an entry for it."),
            Damage("UPDATE tombstones SET merged_into = \(unknownID)", "is recorded as rescued into"),
            Damage(
                """
                INSERT INTO tombstones (scope, sequence, bytes, id, deletion_date, arrival_date, type)
                SELECT scope, 4, 9, id, now(), now(), 'note' FROM objects WHERE section = 0
                """, "NOTE is both an object and a DeletedObject."),
            Damage("UPDATE documents SET archived = true", "NOTE is outdated in the index of terms."),
            Damage(
                "UPDATE terms SET lexemes = '''1:bread'':1'",
                "The terms of NOTE in the index of terms differ from those of its text."),
            Damage("UPDATE documents SET note = \(unknownID)", "is in the index of terms, but is not a note."),
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
