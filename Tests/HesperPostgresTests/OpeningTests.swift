import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

@Suite("Opening a database", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct OpeningTests {
    @Test(
        "Servers that start at the same time on an empty database create its tables once and have the same installation"
    )
    func atOnce() async throws {
        let database = try await PostgresServer.running.database()
        let installations = try await withThrowingTaskGroup(of: Installation.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    var settings = database.settings
                    settings.size = 1
                    let store = try await PostgresStore(settings)
                    await store.close()
                    return store.installation
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(installations.count == 6)
        #expect(installations.allSatisfy { $0 == installations[0] })
    }

    @Test("A database of a later version is refused and not changed")
    func newer() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            try await store.run { try $0.execute(script: "UPDATE hesper SET version = 99") }
            await #expect(throws: StoreError.newerDatabase(version: 99, known: Migrations.version)) {
                _ = try await stores.open()
            }
        }
    }

    @Test("storage.md states the current version")
    func documentedVersion() throws {
        #expect(try storagePage().contains("version of the tables, currently \(Migrations.version) (SQLite counts"))
    }

    @Test("Edits of an earlier version get checksums, and the check finds nothing")
    func checksums() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let (note, _) = try await desk.pushNoteAndTag()
            for part: UInt64 in 2...4 {
                let notes = (1...400).map { _ in desk.note(.random(), "Bread", at: part) }
                try await store.write { _ = try desk.push(notes, in: $0) }
            }
            try await desk.push(desk.delete(note))
            try await store.run {
                try $0.execute(
                    script: """
                        ALTER TABLE edits DROP COLUMN checksum, DROP COLUMN text_name;
                        DROP TABLE blob_store, unknown_blobs, idempotency_keys, imports, webhooks, webhook_deliveries;
                        ALTER TABLE scopes DROP COLUMN parcel_bytes, DROP COLUMN quota;
                        ALTER TABLE accounts DROP COLUMN disabled_since;
                        ALTER TABLE devices DROP COLUMN token_scopes, DROP COLUMN token_expiry_date, DROP COLUMN token_tag;
                        UPDATE hesper SET version = 6;
                        """)
            }
            let migrated = try await stores.open()
            #expect(
                try await migrated.run { try $0.first("SELECT count(DISTINCT checksum) FROM edits") { $0.integer(0) } }
                    == 1_202)
            #expect(try await desk.inconsistencies() == [])
        }
    }

    @Test("A database with another encoding is refused")
    func encoding() async throws {
        let server = try await PostgresServer.running
        try await server.administer(
            "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
        await #expect {
            _ = try await PostgresStore(server.string("latin"))
        } throws: { error in
            if case StoreError.failed(let text) = error { text.contains("LATIN1") } else { false }
        }
        try await server.administer("DROP DATABASE latin WITH (FORCE)")
    }

    @Test("An unreachable server is unavailable")
    func unreachable() async throws {
        await #expect {
            _ = try await PostgresStore("host=127.0.0.1 port=\(try Loopback.freePort()) dbname=x user=x")
        } throws: { error in
            if case StoreError.unavailable = error { true } else { false }
        }
    }

    @Test("Writes wait for the disk whatever the database's default; writes of derived data do not")
    func durability() async throws {
        try await Stores.with { stores in
            let name = stores.database.name
            try await stores.database.server.administer("ALTER DATABASE \(name) SET synchronous_commit = off")
            let store = try await stores.open()
            @Sendable func setting(_ transaction: any Transaction) throws -> String? {
                try (transaction as? PostgresTransaction)?.connection.first("SHOW synchronous_commit") { $0.string(0) }
            }
            #expect(try await store.write { try setting($0) } == "on")
            #expect(try await store.writeDerived { try setting($0) } == "off")
            #expect(try await store.write { try setting($0) } == "on")
            // Waiting for standbys is left to the operator.
            try await stores.database.server.administer("ALTER DATABASE \(name) SET synchronous_commit = local")
            #expect(try await stores.open().write { try setting($0) } == "local")
        }
    }

    @Test("Views have plain columns, also for texts with U+0000")
    func views() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let (note, tag) = try await desk.pushNoteAndTag()
            let picture = try await desk.pushAttachment()
            try await desk.push(desk.note(.random(), "a\u{0}b\\u0000"))
            let texts = try await store.run { connection in
                try connection.all(
                    "SELECT text FROM notes WHERE creation_date = '2026-01-01T00:00:00Z' ORDER BY text COLLATE \"C\" DESC"
                ) { $0.string(0) }
            }
            #expect(texts.map { $0.prefix(5) } == ["a\u{fffd}b\\u", "Milk"], "\(texts)")
            let names = try await store.run { connection in
                try connection.all("SELECT name FROM tags WHERE id = $1", [.id(tag)]) { $0.string(0) }
            }
            #expect(names == ["Paris"])
            let pictures = try await store.run { connection in
                try connection.all("SELECT mime_type, byte_count, id FROM attachments") {
                    ($0.string(0), $0.integer(1), try $0.id(2))
                }
            }
            #expect(pictures.map(\.0) == ["image/png"] && pictures.map(\.1) == [3] && pictures.map(\.2) == [picture])
            #expect(try await desk.ids().contains(note))
        }
    }
}
