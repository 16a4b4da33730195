import HesperModel
import HesperStore

extension StoreContract {
    static let deletionCases: [Case] = [
        Case("a DeletedObject replaces a deleted object, whose edits remain") { (client: Client) in
            let (note, tag) = (UniqueID.random(), UniqueID.random())
            try await client.push(
                client.tag(tag, "Paris", at: 1), client.note(note, "Milk", at: 1, (.tag(tag), .bool(true))))
            let pushed = try await client.push(client.delete(note, at: 5))
            let deleted = DeletedObject(uniqueID: note, objectType: .note, deletionDate: Client.date(5))
            try expect(try await client.state(note), is: .deleted(deleted, sequence: pushed.head.sequence))
            try expect(try await client.history(note).count, is: 1)
            try expect(try await client.holders(tag), is: [])
            // Later edits are stored in the bag and change nothing else.
            let later = try await client.push(client.set(note, .text, .string("Bread"), at: 9))
            try expect(later.head, is: pushed.head)
            try expect(try await client.history(note).count, is: 2)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the deletion of an unknown object is stored") { (client: Client) in
            let note = UniqueID.random()
            try await client.push(client.delete(note, at: 5))
            try await client.push(client.note(note, "Milk", at: 9))
            let deleted = DeletedObject(uniqueID: note, objectType: .note, deletionDate: Client.date(5))
            try expect(try await client.state(note), is: .deleted(deleted, sequence: 1))
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a changed DeletedObject gets a new sequence number") { (client: Client) in
            let (tag, greater, less) = (UniqueID.random(), UniqueID(high: 9, low: 1), UniqueID(high: 1, low: 1))
            try await client.push(client.tag(tag, "Paris", at: 1))
            try await client.push(client.delete(tag, .tag, at: 5))
            try await client.push(client.delete(tag, .tag, mergedInto: greater, at: 6))
            try await client.push(client.delete(tag, .tag, mergedInto: less, at: 7))
            let deleted = DeletedObject(uniqueID: tag, objectType: .tag, mergedInto: less, deletionDate: Client.date(5))
            try expect(try await client.state(tag), is: .deleted(deleted, sequence: 4))
            try expect(try await client.rows().map(\.sequence), is: [4])
            try expect(try await client.read { try $0.mergedFrom(less, in: client.scope) }, is: [tag])
            try expect(try await client.read { try $0.mergedFrom(greater, in: client.scope) }, is: [])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("notes whose deletion arrived since a date are listed with the deleting device, the most recent first") {
            (client: Client) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            let tag = UniqueID.random()
            try await client.push(ids.map { client.note($0, "Milk", at: 1) } + [client.tag(tag, "Paris", at: 1)])
            for (index, id) in ids.enumerated() {
                // Each was deleted long before the deletion arrived.
                _ = try await client.store.write {
                    try client.push(
                        [client.delete(id, at: Int64(index) + 1)], in: $0, at: Client.date(Int64(index) * 10 + 10))
                }
            }
            try await client.push(client.delete(tag, .tag, at: 90))
            func list(since: Int64, before: Int64?, _ limit: Int) async throws -> [DeletedNote] {
                try await client.read {
                    try $0.deletedNotes(in: client.scope, since: Client.date(since), before: before, limit: limit)
                }
            }
            let all = try await list(since: 0, before: nil, 100)
            try expect(all.map(\.deleted.uniqueID), is: ids.reversed())
            try expect(all.map(\.deletedBy), is: ids.map { _ in client.device.node })
            try expect(all.map(\.deleted.deletionDate), is: [6, 5, 4, 3, 2, 1].map(Client.date))
            try expect(all.map(\.arrivalDate), is: [60, 50, 40, 30, 20, 10].map(Client.date))
            try expect(try await list(since: 40, before: nil, 100), is: Array(all[0..<3]))
            try expect(try await list(since: 0, before: nil, 2), is: Array(all[0..<2]))
            try expect(try await list(since: 0, before: all[1].sequence, 2), is: Array(all[2..<4]))
        },
    ]
}
