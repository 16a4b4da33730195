import Foundation
import GRDB
import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperSQLite

/// Salvage of damaged copies. How devices sync afterwards is tested in `Tests/BlackBox/command/test_salvage.py`.
@Suite("Salvage")
struct SalvageTests {
    private let folder = Folder()
    private var copy: String { folder.url.appending(path: "copy").path }
    private var salvaged: URL { folder.url.appending(path: "salvaged") }

    /// Copies a database with some hundred notes and app objects. Each object has two texts, which are in different rows.
    private func makeCopy() async throws -> TestClient {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        for _ in 0..<300 { _ = try await desk.pushNoteAndTag() }
        for _ in 0..<50 {
            let edits = [
                Edit(.objectType, .string("recipe"), at: nil), Edit(.file("photo"), .null, at: desk.clock(1)),
                Edit(.namedText("method"), .string("Boil."), at: desk.clock(1)),
                Edit(.namedText("notes"), .string("Good."), at: desk.clock(1)),
            ]
            try await desk.push(.change(Change(uniqueID: .random(), section: .objects, edits: edits)))
        }
        try await store.copy(to: copy)
        try store.close()
        return desk
    }

    /// - Returns: the report of what is lost.
    @discardableResult
    private func salvage() throws -> [String] {
        try? FileManager.default.removeItem(at: salvaged)
        try FileManager.default.createDirectory(at: salvaged, withIntermediateDirectories: true)
        let path = salvaged.appending(path: SQLiteStore.fileName).path
        return try SQLiteSalvage(of: copy, to: path, passwordHash: "$none", at: TestClient.now).run()
    }

    private func findings(_ store: SQLiteStore) async throws -> [String] {
        try await store.read { snapshot in
            var findings: [String] = []
            for account in try snapshot.accounts() {
                try snapshot.inconsistencies(in: account.scope) { findings.append($0) }
            }
            return findings
        }
    }

    private func head(_ folder: URL, of scope: ScopeID) async throws -> ScopeHead? {
        let store = try SQLiteStore(folder: folder)
        let head = try await store.read { try $0.head(of: scope) }
        #expect(try await findings(store) == [])
        try store.close()
        return head
    }

    @Test func anUndamagedDatabaseLosesNothing() async throws {
        let desk = try await makeCopy()
        #expect(try salvage() == [])
        let head = try await head(salvaged, of: desk.scope)
        #expect(try await head == self.head(folder.url, of: desk.scope))
        #expect(head?.sequence ?? 0 >= 600)
    }

    /// With any damage the salvage ends, and its result is consistent.
    @Test func anyDamageYieldsAConsistentDatabase() async throws {
        _ = try await makeCopy()
        let sound = try Data(contentsOf: URL(filePath: copy))
        var random = SeededRandom(.random(in: 0...1_000_000))
        let isEverything = ProcessInfo.processInfo.environment["HESPER_EVERYTHING"] != nil
        for _ in 0..<(isEverything ? 20 : 8) {
            var damaged = sound
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let start = Int.random(in: 0..<damaged.count, using: &random)
                let count = min(Int.random(in: 1...6_000, using: &random), damaged.count - start)
                let byte = UInt8.random(in: 0...255, using: &random)
                let isRandom = Bool.random(using: &random)
                for index in start..<start + count {
                    damaged[index] = isRandom ? .random(in: 0...255, using: &random) : byte
                }
            }
            if Bool.random(using: &random) { damaged = damaged.prefix(.random(in: 0...damaged.count, using: &random)) }
            try damaged.write(to: URL(filePath: copy))
            do {
                try salvage()
            } catch StoreError.newerDatabase {
                // The version in the header was damaged.
                continue
            }
            let store = try SQLiteStore(folder: salvaged)
            let found = try await findings(store)
            try store.close()
            #expect(found == [], "seed \(random.seed)")
        }
    }

    /// For a DeletedObject of a note, the ID in this column is that of the note with the saved words, which follows from its own ID.
    @Test func aDamagedIDOfSavedWordsIsComputedAgain() async throws {
        let store = try SQLiteStore(folder: folder.url)
        let desk = try await TestClient(store)
        let note = UniqueID.random()
        try await desk.push(desk.note(note, "Milk"))
        try await desk.push(.deletion(Deletion(uniqueID: note, objectType: .note)))
        try await store.onWriter {
            try $0.execute(sql: "UPDATE tombstones SET merged_into = randomblob(16)")
        }
        try await store.copy(to: copy)
        try store.close()
        try salvage()
        let salvaged = try SQLiteStore(folder: salvaged)
        #expect(try await findings(salvaged) == [])
        let rescue = try await salvaged.onWriter {
            try Data.fetchOne($0, sql: "SELECT merged_into FROM tombstones")
        }
        #expect(rescue.map(Array.init) == note.rescue.bytes)
        try salvaged.close()
    }

    /// Every table is either read, derived again, or emptied by a restore. Whoever adds a table has to decide.
    @Test func everyTableIsHandled() async throws {
        let store = try SQLiteStore(folder: folder.url)
        let names = try await store.onWriter {
            try String.fetchAll(
                $0, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        }
        let read = try await store.onWriter { try SalvagedTable.withRowIDs(of: $0).map(\.name) }
        let withoutRowIDs = ["memberships", "revocations"]
        let derived = ["members", "tag_names", "sweeps", "versions", "documents"]
        let emptied = [
            "devices", "tickets", "uploads", "leases", "removed_blobs", "blob_store", "unknown_blobs",
            "idempotency_keys", "imports", "webhooks", "webhook_deliveries",
        ]
        let found = Set(names.filter { !$0.hasPrefix("terms") })
        #expect(found == Set(read + withoutRowIDs + derived + emptied))
        try store.close()
    }

    @Test func aDatabaseOfALaterVersionIsRefused() async throws {
        _ = try await makeCopy()
        var bytes = try Data(contentsOf: URL(filePath: copy))
        bytes[63] = 200
        try bytes.write(to: URL(filePath: copy))
        #expect(throws: StoreError.newerDatabase(version: 200, known: Migrations.version)) { try salvage() }
    }
}

/// Reproducible random numbers (SplitMix64).
private struct SeededRandom: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(_ seed: UInt64) { (self.seed, state) = (seed, seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
