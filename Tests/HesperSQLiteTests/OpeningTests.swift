import Foundation
import GRDB
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Opening a database")
struct OpeningTests {
    private let folder = Folder()

    @Test("Only writes of derived data do not wait for the disk; later writes do, also after an error")
    func derived() async throws {
        let store = try SQLiteStore(folder: folder.url)
        @Sendable func level(_ transaction: any Transaction) throws -> Int? {
            let database = try #require(transaction as? SQLiteTransaction).database
            return try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        #expect(try await store.writeDerived { try level($0) } == 1)
        #expect(try await store.write { try level($0) } == 2)
        await #expect(throws: CancellationError.self) {
            try await store.writeDerived { _ in throw CancellationError() }
        }
        #expect(try await store.write { try level($0) } == 2)
    }

    @Test("The writer uses synchronous = FULL, so commits are durable before they return")
    func writerIsDurable() throws {
        let store = try SQLiteStore(folder: folder.url)
        #expect(try store.writerPragma("synchronous") == 2)
        #expect(try store.writerPragma("foreign_keys") == 1)
        #expect(try store.writerPragma("wal_autocheckpoint") == 4_000)
        let mode = try DatabaseQueue(path: folder.database).read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
    }

    @Test("Folder and files are accessible only by their owner")
    func modes() throws {
        let store = try SQLiteStore(folder: folder.url)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.url.path) == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(folder.database + suffix) == 0o600, "\(suffix)") }
        try store.close()
    }

    @Test("An existing folder keeps its mode")
    func existingFolder() throws {
        try FileManager.default.createDirectory(
            at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        _ = try SQLiteStore(folder: folder.url)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o750)
    }

    @Test("A database of a later version is refused and not changed")
    func newerDatabase() throws {
        try SQLiteStore(folder: folder.url).close()
        let later = Migrations.version + 1
        let queue = try DatabaseQueue(path: folder.database)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = \(later)") }
        #expect(throws: StoreError.newerDatabase(version: later, known: Migrations.version)) {
            try SQLiteStore(folder: folder.url)
        }
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == later)
    }

    @Test("Migrations run once when several processes open the database concurrently")
    func migrateOnce() async throws {
        // In about every second round, one of four concurrent openings fails with SQLITE_BUSY and is retried.
        for round in 0..<20 {
            let url = folder.url.appending(path: "\(round)")
            let installations = try await withThrowingTaskGroup(of: Installation.self) { group in
                for _ in 0..<4 { group.addTask { try SQLiteStore(folder: url).installation } }
                return try await group.reduce(into: [Installation]()) { $0.append($1) }
            }
            #expect(Set(installations.map(\.epoch)).count == 1)
            #expect(Set(installations.map(\.node)).count == 1)
        }
    }

    @Test("A file that is no database is damaged, and a path that cannot be a folder is unavailable")
    func noDatabase() throws {
        let file = folder.url.appending(path: "file")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("not a folder".utf8).write(to: file)
        let unavailable = #expect(throws: StoreError.self) { try SQLiteStore(folder: file.appending(path: "data")) }
        guard case .unavailable? = unavailable else {
            return #expect(Bool(false), "\(String(describing: unavailable))")
        }
        try Data(repeating: 0x41, count: 8_192).write(to: URL(filePath: folder.database))
        let damaged = #expect(throws: StoreError.self) { try SQLiteStore(folder: folder.url) }
        guard case .damaged? = damaged else { return #expect(Bool(false), "\(String(describing: damaged))") }
    }

    @Test("Views have plain columns")
    func views() async throws {
        let desk = try await TestClient(SQLiteStore(folder: folder.url))
        let (note, tag) = try await desk.pushNoteAndTag()
        let rows = try await DatabaseQueue(path: folder.database).read { database in
            try [
                String.fetchAll(database, sql: "SELECT id || ' ' || text || ' ' || json_array_length(tags) FROM notes"),
                String.fetchAll(database, sql: "SELECT id || ' ' || name || ' ' || sequence FROM tags"),
                String.fetchAll(database, sql: "SELECT id FROM attachments"),
            ]
        }
        #expect(rows == [["\(note) Milk 1"], ["\(tag) Paris 1"], []])
    }
}
