import Foundation
import GRDB
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

@Suite("Unavailable database")
struct UnavailableTests {
    private let folder = Folder()

    private func isUnavailable(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch StoreError.unavailable, StoreError.full {
            return true
        } catch {
            return false
        }
    }

    @Test("A write that waits too long for another process is unavailable; reads do not wait")
    func busy() async throws {
        let desk = try await TestClient(SQLiteStore(folder: folder.url, busyTimeout: .milliseconds(50)))
        let (note, other) = (UniqueID.random(), UniqueID.random())
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let process = try DatabaseQueue(path: folder.database, configuration: configuration)
        try await process.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(await isUnavailable { try await desk.push(desk.note(note, "Milk")) })
        #expect(try await desk.ids() == [])
        #expect(try await desk.store.session(of: desk.token) != nil)
        try await process.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await desk.push(desk.note(other, "Bread"))
        #expect(try await desk.ids() == [other])
    }

    @Test("On a full disk a push is rejected as a whole, and a smaller one succeeds")
    func full() async throws {
        let pages = 120
        let store = try SQLiteStore(
            folder: folder.url, prepare: { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") })
        let desk = try await TestClient(store)
        let first = UniqueID.random()
        try await desk.push(desk.note(first, "Milk"))
        #expect(
            await isUnavailable { try await desk.push(desk.note(.random(), String(repeating: "x", count: 900_000))) })
        #expect(try await desk.ids() == [first])
        let second = UniqueID.random()
        try await desk.push(desk.note(second, "Bread", at: 2))
        #expect(try await desk.ids() == [first, second])
        #expect(try await desk.inconsistencies() == [])
    }

    @Test("A transaction that SQLite has rolled back accepts no further statements")
    func rolledBack() async throws {
        let desk = try await TestClient(SQLiteStore(folder: folder.url))
        #expect(
            await isUnavailable {
                try await desk.store.write { transaction in
                    try desk.push([desk.note(.random(), "Milk")], in: transaction)
                    try? transaction.savepoint {
                        // As SQLite does when the disk fails.
                        try (transaction as? SQLiteTransaction)?.database.execute(sql: "ROLLBACK")
                        throw CancellationError()
                    }
                    try desk.push([desk.note(.random(), "Bread")], in: transaction)
                }
            })
        #expect(
            await isUnavailable {
                try await desk.store.write { transaction in
                    try desk.push([desk.note(.random(), "Milk")], in: transaction)
                    try (transaction as? SQLiteTransaction)?.database.execute(sql: "ROLLBACK")
                }
            })
        #expect(try await desk.ids() == [])
        try await desk.push(desk.note(.random(), "Butter"))
        #expect(try await desk.ids().count == 1)
        #expect(try await desk.inconsistencies() == [])
    }

    @Test(
        "Invalid statements are not retryable", arguments: ["SELECT * FROM nowhere", "INSERT INTO members VALUES (1)"])
    func mistake(sql: String) async throws {
        let store = try SQLiteStore(folder: folder.url)
        await #expect {
            try await store.write { transaction in
                _ = try (transaction as? SQLiteTransaction)?.prepare(sql).run()
            }
        } throws: { error in
            if case StoreError.failed = error { true } else { false }
        }
    }

    @Test(
        "SQLite's result codes are mapped to store errors",
        arguments: [
            (5, "unavailable"), (10 | 4 << 8, "unavailable"), (13, "full"), (10 | 19 << 8, "full"), (14, "unavailable"),
            (8, "unavailable"), (7, "unavailable"), (11, "damaged"), (26, "damaged"), (1, "failed"), (19, "failed"),
            (21, "failed"),
        ])
    func codes(code: Int32, kind: String) {
        let found =
            switch StoreError(code: code, message: "m") {
            case .unavailable: "unavailable"
            case .full: "full"
            case .damaged: "damaged"
            case .failed: "failed"
            case .newerDatabase: "newer"
            case .unfinished: "unfinished"
            }
        #expect(found == kind)
    }
}
