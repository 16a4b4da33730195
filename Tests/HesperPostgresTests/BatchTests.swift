import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

/// Reads in batches, and the boundaries between batches.
@Suite("Batches", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct BatchTests {
    @Test("A scan is complete and in order in both directions, however many batches it takes")
    func scans() async throws {
        try await Stores.with { stores in
            let desk = try await TestClient(try await stores.open())
            let ids = (0..<300).map { _ in UniqueID.random() }
            try await desk.store.write { transaction in
                _ = try desk.push(ids.map { desk.note($0, "Milk") }, in: transaction)
                _ = try desk.push(ids.filter { $0.low % 3 == 0 }.map { desk.delete($0) }, in: transaction)
            }
            let order = ids.filter { $0.low % 3 != 0 } + ids.filter { $0.low % 3 == 0 }
            for selection in [Selection.all, .notes] {
                for newestFirst in [false, true] {
                    for limit in [Int.max, 64, 65, 100] {
                        let scan = Scan(
                            selection, rows: .all, sequences: 0...Int64.max, newestFirst: newestFirst, limit: limit)
                        let found = try await desk.store.read { snapshot in
                            var found: [UniqueID?] = []
                            try snapshot.scan(scan, in: desk.scope) { row in
                                found.append(row.id())
                                return true
                            }
                            return found
                        }
                        #expect(found == Array((newestFirst ? order.reversed() : order).prefix(limit)))
                    }
                }
            }
        }
    }

    @Test("Large bodies after many small ones are not all in memory at once")
    func suddenlyLarge() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let ids = (0..<24).map { _ in UniqueID.random() }
            try await store.write { _ = try desk.push(ids.map { desk.note($0, "Milk") }, in: $0) }
            try await store.enlarge(ids.suffix(6))
            func scan(newestFirst: Bool) -> Scan {
                Scan(.notes, rows: .all, sequences: 0...Int64.max, newestFirst: newestFirst, limit: 100)
            }
            let sql = try #require(ScanStatements(scan(newestFirst: false)).rows(newestFirst: false))
            let bodies = try await store.run { connection in
                try connection.all(sql, [.scope(desk.scope), .int8(0), .int8(Int64.max), .int(100)]) {
                    $0.isNull(3) ? 0 : $0.bytes(3).count
                }
            }
            #expect(bodies.count == 24 && bodies.prefix(20).allSatisfy { $0 > 0 } && bodies.suffix(4) == [0, 0, 0, 0])
            for newestFirst in [false, true] {
                let scan = scan(newestFirst: newestFirst)
                let found = try await store.read { snapshot in
                    var found: [UniqueID?] = []
                    try snapshot.scan(scan, in: desk.scope) { row in
                        found.append(row.id())
                        return true
                    }
                    return found
                }
                #expect(found == (newestFirst ? ids.reversed() : ids))
            }
            let left = try await store.read { snapshot in
                try #require(snapshot as? PostgresSnapshot).someStates(of: ids, in: desk.scope) { _, _, _ in }
            }
            #expect(left == Array(ids.suffix(4)))
        }
    }

    @Test("The number of rows in a batch depends on the size of the previous rows")
    func sizes() {
        var batch = ScanBatch()
        #expect(batch.rows == 4)
        for _ in 0..<64 { batch.count(512) }
        batch.begin()
        #expect(batch.rows == 2_048)
        for _ in 0..<10 { batch.count(4 << 20) }
        batch.begin()
        #expect(batch.rows == 1)
        batch.count(1)
        batch.begin()
        #expect(batch.rows == 4_096)
    }

    @Test("The newest text of a node is found however many other edits followed")
    func newestText() async throws {
        try await Stores.with { stores in
            let desk = try await TestClient(try await stores.open())
            let id = UniqueID.random()
            try await desk.push(desk.note(id, "Milk"))
            try await desk.push(desk.note(id, "Bread", at: 2))
            let other = NodeID.random()
            var source = ClockSource(node: other)
            for time in 0..<150 as Range<UInt64> {
                let clock = source.tick(at: UInt64(TestClient.now.milliseconds) + 10 + time)
                try await desk.push(
                    .change(
                        Change(uniqueID: id, section: .notes, edits: [Edit(.archived, .bool(time % 2 == 0), at: clock)])
                    ))
            }
            let found = try await desk.store.write { transaction in
                let bag = transaction.bag(of: desk.scope)
                return [
                    try bag.newest(.text, of: id, by: desk.node, before: desk.clock(1_000)),
                    try bag.newest(.text, of: id, by: desk.node, before: desk.clock(2)),
                    try bag.newest(.text, of: id, by: other, before: desk.clock(1_000)),
                ]
            }
            #expect(found == [desk.clock(2), desk.clock(1), nil])
            // The sweeper reads the same rows in ascending order.
            let (edits, isAll) = try await desk.store.read {
                try $0.edits(of: id, in: desk.scope, after: 0, limit: 1_000, bytes: 1 << 20)
            }
            #expect(isAll && edits.map(\.position) == Array(1...152))
            let (some, isEnough) = try await desk.store.read {
                try $0.edits(of: id, in: desk.scope, after: 100, limit: 52, bytes: 1 << 20)
            }
            #expect(isEnough && some.map(\.position) == Array(101...152))
        }
    }
}

extension PostgresStore {
    /// Sets the recorded size of objects to the greatest possible size, that of a text of control characters.
    func enlarge(_ ids: some Sequence<UniqueID>) async throws {
        let ids = Array(ids)
        try await run { connection in
            _ = try connection.run(
                "UPDATE objects SET bytes = $2 WHERE id = ANY ($1)", [.uuidArray(ids), .int(6 * Limits.textBytes)])
        }
    }
}
