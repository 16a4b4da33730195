import HesperModel
import HesperStore

extension StoreContract {
    static let scanCases: [Case] = [
        Case("a scan lists each object at its last change, in either direction") { (client: Client) in
            let ids = (0..<4).map { _ in UniqueID.random() }
            try await client.push(ids.map { client.note($0, "Milk", at: 1) })
            try await client.push(client.set(ids[1], .archived, .bool(true), at: 2))
            try await client.push(client.delete(ids[2]))
            let order = [ids[0], ids[3], ids[1], ids[2]]
            try expect(try await client.rows().map(\.id), is: order)
            try expect(try await client.rows().map(\.sequence), is: [1, 4, 5, 6])
            try expect(try await client.rows().map(\.isDeleted), is: [false, false, false, true])
            try expect(try await client.rows(newestFirst: true).map(\.id), is: order.reversed())
            try expect(try await client.rows(in: 4...5).map(\.id), is: [ids[3], ids[1]])
            try expect(try await client.rows(in: 4...5, newestFirst: true).map(\.id), is: [ids[1], ids[3]])
            try expect(try await client.rows(in: 2...3), is: [])
        },
        Case("a scan contains the bodies of objects and DeletedObjects") { (client: Client) in
            let (note, tag) = (UniqueID.random(), UniqueID.random())
            try await client.push(client.note(note, "Milk \"and\" bread", at: 1), client.tag(tag, "Paris", at: 1))
            try await client.push(client.delete(tag, .tag, mergedInto: .random()))
            for row in try await client.rows() {
                switch try await client.state(row.id) {
                case .entity(let entity, let sequence)?:
                    try expect(row.body, is: entity.body)
                    try expect(row.sequence, is: sequence ?? -1)
                case .deleted(let deleted, let sequence)?:
                    try expect(row.body, is: deleted.body)
                    try expect(row.sequence, is: sequence)
                case nil: throw Violation(description: "\(row.id) is in the scan, but has no state")
                }
            }
        },
        Case("a scan ends when the reader stops it") { (client: Client) in
            try await client.push((0..<10).map { _ in client.note(.random(), "Milk", at: 1) })
            let all = try await client.rows()
            for limit in 0...11 { try expect(try await client.rows(limit: limit), is: Array(all.prefix(limit))) }
            // An error of the reader ends it too, and the next scan is complete.
            do {
                try await client.read { try $0.scan(.everything, in: client.scope) { _ in throw Deliberate() } }
                throw Violation(description: "an error was ignored")
            } catch is Deliberate {}
            try expect(try await client.rows(), is: all)
        },
        Case("scans can be nested") { (client: Client) in
            try await client.push((0..<3).map { _ in client.note(.random(), "Milk", at: 1) })
            let counts = try await client.read { snapshot in
                var counts: [Int] = []
                try snapshot.scan(.everything, in: client.scope) { row in
                    let before = Array(row.body)
                    var inner = 0
                    try snapshot.scan(.everything, in: client.scope) { _ in
                        inner += 1
                        return true
                    }
                    try expect(Array(row.body), is: before)
                    counts.append(inner)
                    return true
                }
                return counts
            }
            try expect(counts, is: [3, 3, 3])
        },
        Case("a selection filters objects and DeletedObjects by type") { (client: Client) in
            let made = try await client.oneOfEach()
            func types(_ selection: Selection, _ rows: Scan.Rows = .all) async throws -> [String] {
                try await client.rows(selection, rows).map { row in
                    (row.isDeleted ? "-" : "+") + (made.first { $0.id == row.id }?.type ?? "?")
                }
            }
            let live = ["+note", "+tag", "+attachment", "+board", "+card"]
            let deleted = ["-note", "-tag", "-attachment", "-board", "-card"]
            try expect(try await types(.all), is: live + deleted)
            try expect(try await types(.notes), is: ["+note", "-note", "-tag", "-attachment"])
            try expect(try await types(.tags), is: ["+tag", "-tag"])
            try expect(try await types(.attachments), is: ["+attachment", "-attachment"])
            try expect(try await types(.objects), is: ["+board", "+card", "-board", "-card"])
            try expect(try await types(.deletedObjects), is: deleted)
            let some = Selection.types(Set([.tag, ObjectType("card")].compactMap(\.self)))
            try expect(try await types(some), is: ["+tag", "+card", "-tag", "-card"])
            // A first sync reads tags, then all other objects.
            try expect(try await types(.all, .tagsOnly), is: ["+tag"])
            try expect(try await types(.all, .withoutTags), is: live.filter { $0 != "+tag" } + deleted)
            try expect(try await types(.notes, .tagsOnly), is: [])
            try expect(try await types(.notes, .withoutTags), is: ["+note", "-note", "-tag", "-attachment"])
            try expect(try await types(some, .tagsOnly), is: ["+tag"])
            try expect(try await types(some, .withoutTags), is: ["+card", "-tag", "-card"])
            try expect(try await types(.deletedObjects, .tagsOnly), is: [])
            try expect(try await types(.deletedObjects, .withoutTags), is: deleted)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the size of a scan is correct for every selection, part and range") { (client: Client) in
            _ = try await client.oneOfEach()
            let some = Selection.types(Set([.tag, ObjectType("card")].compactMap(\.self)))
            for selection in [.all, .notes, .tags, .attachments, .objects, .deletedObjects, some] as [Selection] {
                for part in [.all, .tagsOnly, .withoutTags] as [Scan.Rows] {
                    for range in [0...Int64.max, 3...7, 5...5, 11...20] as [ClosedRange<Int64>] {
                        let rows = try await client.rows(selection, part, in: range)
                        let size = ScanSize(objects: rows.count, bytes: rows.reduce(0) { $0 + $1.body.count })
                        let what = "\(selection.name), \(part), \(range)"
                        try expect(try await client.size(selection, part, in: range), is: size, what)
                        let down = try await client.rows(selection, part, in: range, newestFirst: true)
                        try expect(down, is: rows.reversed(), what)
                    }
                }
            }
        },
        Case("thousands of rows of many types are scanned in order") { (client: Client) in
            let ids = (0..<1_500).map { _ in UniqueID.random() }
            for start in stride(from: 0, to: ids.count, by: 500) {
                try await client.push(
                    (start..<start + 500).map { index in
                        index % 7 == 0
                            ? client.tag(ids[index], "tag \(index)", at: 1)
                            : index % 5 == 0
                                ? client.object(ids[index], type: "type\(index % 3)", at: 1)
                                : client.note(ids[index], "Milk", at: 1)
                    })
            }
            try await client.push(
                stride(from: 0, to: ids.count, by: 11).map { client.delete(ids[$0], client.type($0)) })
            let rows = try await client.rows()
            try expect(rows.count, is: 1_500)
            try expect(rows.map(\.sequence), is: rows.map(\.sequence).sorted())
            try expect(try await client.rows(newestFirst: true), is: rows.reversed())
            let objects = try await client.rows(.objects)
            try expect(objects, is: rows.filter { row in client.type(ids.firstIndex(of: row.id) ?? 0).isAppDefined })
        },
    ]
}

extension Scan {
    static let everything = Scan(.all, rows: .all, sequences: 0...Int64.max, newestFirst: false)
}

extension Client {
    /// The type of the object with this index in the case with thousands of rows.
    fileprivate func type(_ index: Int) -> ObjectType {
        index % 7 == 0 ? .tag : index % 5 == 0 ? ObjectType("type\(index % 3)") ?? .note : .note
    }

    /// Creates a live object and a DeletedObject of each of five types. Live objects have the sequence numbers 1 to 5. The
    /// others were created with the numbers 6 to 10 and deleted with the numbers 11 to 15.
    fileprivate func oneOfEach() async throws -> [(id: UniqueID, type: String)] {
        var made: [(id: UniqueID, type: String)] = []
        for name in ["", " too"] {
            let ids = (0..<5).map { _ in UniqueID.random() }
            try await bytesArrive(for: ids[2])
            try await push(
                note(ids[0], "Milk\(name)", at: 1), tag(ids[1], "Paris\(name)", at: 1),
                change(ids[2], .attachments, [Edit(.mimeType, .string("image/png"), at: nil)]),
                object(ids[3], type: "board", at: 1), object(ids[4], type: "card", at: 1))
            made += zip(ids, ["note", "tag", "attachment", "board", "card"]).map { ($0, $1) }
        }
        try await push(made[5...].compactMap { one in ObjectType(one.type).map { delete(one.id, $0) } })
        return made
    }
}
