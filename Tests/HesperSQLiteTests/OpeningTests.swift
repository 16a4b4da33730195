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

    @Test("Only what is derived does not wait for the disk, and what follows does again, also after an error")
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

    @Test("A commit is durable before it returns: the writer, whose settings count, is FULL")
    func writerIsDurable() throws {
        let store = try SQLiteStore(folder: folder.url)
        #expect(try store.writerPragma("synchronous") == 2)
        #expect(try store.writerPragma("foreign_keys") == 1)
        #expect(try store.writerPragma("wal_autocheckpoint") == 4_000)
        let mode = try DatabaseQueue(path: folder.database).read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
    }

    @Test("Folder and files are for their owner's eyes only")
    func modes() throws {
        let store = try SQLiteStore(folder: folder.url)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.url.path) == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(try mode(folder.database + suffix) == 0o600, "\(suffix)") }
        try store.close()
    }

    @Test("A folder that is there keeps its mode")
    func existingFolder() throws {
        try FileManager.default.createDirectory(
            at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        _ = try SQLiteStore(folder: folder.url)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o750)
    }

    @Test("A database of a later Hesper is refused, and left as it is")
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

    @Test("Migrations run once, whoever opens the database, however many at once")
    func migrateOnce() async throws {
        // Of four that open a file at once, one is told at once that another is busy in about every second round.
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

    @Test("What is no database, or can be none, is named")
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

    @Test("Views show an operator plain columns")
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
