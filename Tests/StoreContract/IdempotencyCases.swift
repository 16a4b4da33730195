import HesperModel
import HesperStore

extension StoreContract {
    private static let (now, later) = (Client.date(0), Client.date(1_000))

    /// A record of the key with this number, at a date.
    private static func record(
        _ key: UInt8, _ body: UInt8 = 1, object: UniqueID = .random(), isCreation: Bool = true, at date: Timestamp = now
    ) -> IdempotencyRecord {
        IdempotencyRecord(
            keyHash: hash(key), bodyHash: hash(body), object: object, isCreation: isCreation, date: date)
    }

    private static func hash(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 32) }

    static let idempotencyCases: [Case] = [
        Case("idempotency records are stored durably and separately for each scope") { (subject: Subject) in
            let client = try await Client(on: try await subject.open())
            let other = try await Client(on: client.store, email: "bob@example.com")
            let own = [record(1), record(2, isCreation: false)]
            let others = record(1, 9)
            try await client.insert(own)
            try await other.insert([others])
            let reopened = try await subject.open()
            let (scope, otherScope) = (client.scope, other.scope)
            let found = try await reopened.read { snapshot in
                try [1, 2, 3].map { try snapshot.idempotencyRecord(hash($0), in: scope) }
            }
            try expect(found, is: own + [nil])
            try expect(try await reopened.read { try $0.idempotencyRecord(hash(1), in: otherScope) }, is: others)
        },
        Case("a record with the same key replaces the earlier one") { (client: Client) in
            try await client.insert([record(1), record(2)])
            let again = record(1, 7, isCreation: false, at: later)
            try await client.insert([again])
            try expect(try await client.record(1), is: again)
            try expect(try await client.record(2) != nil)
        },
        Case("the oldest records of a scope with too many are removed") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            try await other.insert([record(1)], limit: 3)
            // Key 1 is used again, so it is among the newest. The order does not depend on dates, because the server's clock may go back.
            let keys: [UInt8] = [1, 2, 3, 1, 4, 5]
            for (index, key) in keys.enumerated() {
                try await client.insert([record(key, at: Client.date(Int64(-index)))], limit: 3)
            }
            let kept = try await client.records(1...5).map { $0 != nil }
            try expect(kept, is: [true, false, false, true, true])
            try expect(try await other.record(1) != nil, "the limit applies to each account separately")
        },
        Case("a record is rolled back with its transaction") { (client: Client) in
            let scope = client.scope
            do {
                try await client.store.write { transaction in
                    _ = try transaction.lock(scope)
                    try transaction.insert(record(1), in: scope, limit: 9)
                    throw Deliberate()
                }
            } catch is Deliberate {}
            try expect(try await client.record(1), is: nil)
        },
        Case("expired records of all scopes are removed in batches, the oldest first") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            try await client.insert([
                record(1, at: Client.date(3)), record(2, at: Client.date(1)), record(3, at: later),
            ])
            try await other.insert([record(1, at: Client.date(2))])
            let remove: @Sendable () async throws -> Int = {
                try await client.store.writeDerived { try $0.deleteIdempotencyRecords(until: Client.date(3), limit: 2) }
            }
            try expect(try await remove(), is: 2)
            try expect(try await client.records(1...3).map { $0 != nil }, is: [true, false, true])
            try expect(try await other.record(1), is: nil)
            try expect(try await remove(), is: 1)
            try expect(try await remove(), is: 0)
            try expect(try await client.records(1...3).map { $0 != nil }, is: [false, false, true])
            // Later records are counted without the removed ones.
            for key: UInt8 in 4...6 { try await client.insert([record(key)], limit: 2) }
            try expect(try await client.records(3...6).map { $0 != nil }, is: [false, false, true, true])
        },
        Case("deleting an account deletes its idempotency records") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            try await client.insert([record(1)])
            try await other.insert([record(1)])
            let id = client.account.uniqueID
            try await client.store.write { try $0.deleteAccount(id) }
            try expect(try await client.record(1), is: nil)
            try expect(try await other.record(1) != nil)
        },
        Case("of concurrent requests with one key, one creates the object") { (client: Client) in
            let scope = client.scope
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        try await client.store.write { transaction in
                            _ = try transaction.lock(scope)
                            guard try transaction.idempotencyRecord(hash(1), in: scope) == nil else { return false }
                            try client.push([client.note(.random(), "x", at: UInt64(index))], in: transaction)
                            try transaction.insert(record(1), in: scope, limit: 9)
                            return true
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            try expect(made, is: 1)
            try expect(try await client.read { try $0.head(of: scope)?.sequence }, is: 1)
        },
    ]
}

extension Client {
    fileprivate func insert(_ records: [IdempotencyRecord], limit: Int = 9) async throws {
        let scope = scope
        try await store.write { transaction in
            _ = try transaction.lock(scope)
            for record in records { try transaction.insert(record, in: scope, limit: limit) }
        }
    }

    fileprivate func record(_ key: UInt8) async throws -> IdempotencyRecord? { try await records(key...key)[0] }

    fileprivate func records(_ keys: ClosedRange<UInt8>) async throws -> [IdempotencyRecord?] {
        let scope = scope
        return try await read { snapshot in
            try keys.map { try snapshot.idempotencyRecord(Array(repeating: $0, count: 32), in: scope) }
        }
    }
}
