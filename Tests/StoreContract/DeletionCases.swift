import HesperModel
import HesperStore

extension StoreContract {
    static let deletionCases: [Case] = [
        Case("puts a DeletedObject in the place of an object, and keeps its edits") { (desk: Desk) in
            let (note, tag) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.tag(tag, "Paris", at: 1), desk.note(note, "Milk", at: 1, (.tag(tag), .bool(true))))
            let pushed = try await desk.push(desk.delete(note, at: 5))
            let deleted = DeletedObject(uniqueID: note, objectType: .note, deletionDate: Desk.date(5))
            try expect(try await desk.state(note), is: .deleted(deleted, sequence: pushed.head.sequence))
            try expect(try await desk.history(note).count, is: 1)
            try expect(try await desk.holders(tag), is: [])
            // Later edits go into the bag and change nothing else.
            let later = try await desk.push(desk.set(note, .text, .string("Bread"), at: 9))
            try expect(later.head, is: pushed.head)
            try expect(try await desk.history(note).count, is: 2)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("keeps the DeletedObject of what it never saw") { (desk: Desk) in
            let note = UniqueID.random()
            try await desk.push(desk.delete(note, at: 5))
            try await desk.push(desk.note(note, "Milk", at: 9))
            let deleted = DeletedObject(uniqueID: note, objectType: .note, deletionDate: Desk.date(5))
            try expect(try await desk.state(note), is: .deleted(deleted, sequence: 1))
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("gives a DeletedObject that changes a new number") { (desk: Desk) in
            let (tag, greater, less) = (UniqueID.random(), UniqueID(high: 9, low: 1), UniqueID(high: 1, low: 1))
            try await desk.push(desk.tag(tag, "Paris", at: 1))
            try await desk.push(desk.delete(tag, .tag, at: 5))
            try await desk.push(desk.delete(tag, .tag, mergedInto: greater, at: 6))
            try await desk.push(desk.delete(tag, .tag, mergedInto: less, at: 7))
            let deleted = DeletedObject(uniqueID: tag, objectType: .tag, mergedInto: less, deletionDate: Desk.date(5))
            try expect(try await desk.state(tag), is: .deleted(deleted, sequence: 4))
            try expect(try await desk.rows().map(\.sequence), is: [4])
            try expect(try await desk.read { try $0.mergedFrom(less, in: desk.scope) }, is: [tag])
            try expect(try await desk.read { try $0.mergedFrom(greater, in: desk.scope) }, is: [])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("lists the notes whose deletion arrived since a date, the last first, with who did it") { (desk: Desk) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            let tag = UniqueID.random()
            try await desk.push(ids.map { desk.note($0, "Milk", at: 1) } + [desk.tag(tag, "Paris", at: 1)])
            for (index, id) in ids.enumerated() {
                // Each deleted long before the server learns of it.
                _ = try await desk.store.write {
                    try desk.push(
                        [desk.delete(id, at: Int64(index) + 1)], in: $0, at: Desk.date(Int64(index) * 10 + 10))
                }
            }
            try await desk.push(desk.delete(tag, .tag, at: 90))
            func list(since: Int64, before: Int64?, _ limit: Int) async throws -> [DeletedNote] {
                try await desk.read {
                    try $0.deletedNotes(in: desk.scope, since: Desk.date(since), before: before, limit: limit)
                }
            }
            let all = try await list(since: 0, before: nil, 100)
            try expect(all.map(\.deleted.uniqueID), is: ids.reversed())
            try expect(all.map(\.deletedBy), is: ids.map { _ in desk.device.node })
            try expect(all.map(\.deleted.deletionDate), is: [6, 5, 4, 3, 2, 1].map(Desk.date))
            try expect(all.map(\.arrivalDate), is: [60, 50, 40, 30, 20, 10].map(Desk.date))
            try expect(try await list(since: 40, before: nil, 100), is: Array(all[0..<3]))
            try expect(try await list(since: 0, before: nil, 2), is: Array(all[0..<2]))
            try expect(try await list(since: 0, before: all[1].sequence, 2), is: Array(all[2..<4]))
        },
    ]
}
