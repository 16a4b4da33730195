import HesperModel
import HesperStore

extension StoreContract {
    static let scanCases: [Case] = [
        Case("scans what changed, either way, each object where it last changed") { (desk: Desk) in
            let ids = (0..<4).map { _ in UniqueID.random() }
            try await desk.push(ids.map { desk.note($0, "Milk", at: 1) })
            try await desk.push(desk.set(ids[1], .archived, .bool(true), at: 2))
            try await desk.push(desk.delete(ids[2]))
            let order = [ids[0], ids[3], ids[1], ids[2]]
            try expect(try await desk.rows().map(\.id), is: order)
            try expect(try await desk.rows().map(\.sequence), is: [1, 4, 5, 6])
            try expect(try await desk.rows().map(\.isDeleted), is: [false, false, false, true])
            try expect(try await desk.rows(newestFirst: true).map(\.id), is: order.reversed())
            try expect(try await desk.rows(in: 4...5).map(\.id), is: [ids[3], ids[1]])
            try expect(try await desk.rows(in: 4...5, newestFirst: true).map(\.id), is: [ids[1], ids[3]])
            try expect(try await desk.rows(in: 2...3), is: [])
        },
        Case("gives the bodies that objects and DeletedObjects have") { (desk: Desk) in
            let (note, tag) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(note, "Milk \"and\" bread", at: 1), desk.tag(tag, "Paris", at: 1))
            try await desk.push(desk.delete(tag, .tag, mergedInto: .random()))
            for row in try await desk.rows() {
                switch try await desk.state(row.id) {
                case .entity(let entity, let sequence)?:
                    try expect(row.body, is: entity.body)
                    try expect(row.sequence, is: sequence ?? -1)
                case .deleted(let deleted, let sequence)?:
                    try expect(row.body, is: deleted.body)
                    try expect(row.sequence, is: sequence)
                case nil: throw Violation(description: "\(row.id) is scanned, but unknown")
                }
            }
        },
        Case("ends a scan as soon as it is told to") { (desk: Desk) in
            try await desk.push((0..<10).map { _ in desk.note(.random(), "Milk", at: 1) })
            let all = try await desk.rows()
            for limit in 0...11 { try expect(try await desk.rows(limit: limit), is: Array(all.prefix(limit))) }
            // An error of the reader ends it too, and the next scan is whole.
            do {
                try await desk.read { try $0.scan(.everything, in: desk.scope) { _ in throw Deliberate() } }
                throw Violation(description: "an error was swallowed")
            } catch is Deliberate {}
            try expect(try await desk.rows(), is: all)
        },
        Case("lets a scan ask for more while it is on a row") { (desk: Desk) in
            try await desk.push((0..<3).map { _ in desk.note(.random(), "Milk", at: 1) })
            let counts = try await desk.read { snapshot in
                var counts: [Int] = []
                try snapshot.scan(.everything, in: desk.scope) { row in
                    let before = Array(row.body)
                    var inner = 0
                    try snapshot.scan(.everything, in: desk.scope) { _ in
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
        Case("selects by type, objects and DeletedObjects alike") { (desk: Desk) in
            let made = try await desk.oneOfEach()
            func types(_ selection: Selection, _ rows: Scan.Rows = .all) async throws -> [String] {
                try await desk.rows(selection, rows).map { row in
                    (row.isDeleted ? "-" : "+") + (made.first { $0.id == row.id }?.type ?? "?")
                }
            }
            let live = ["+note", "+tag", "+attachment", "+board", "+card"]
            let dead = ["-note", "-tag", "-attachment", "-board", "-card"]
            try expect(try await types(.all), is: live + dead)
            try expect(try await types(.notes), is: ["+note", "-note", "-tag", "-attachment"])
            try expect(try await types(.tags), is: ["+tag", "-tag"])
            try expect(try await types(.attachments), is: ["+attachment", "-attachment"])
            try expect(try await types(.objects), is: ["+board", "+card", "-board", "-card"])
            try expect(try await types(.deletedObjects), is: dead)
            let some = Selection.types(Set([.tag, ObjectType("card")].compactMap(\.self)))
            try expect(try await types(some), is: ["+tag", "+card", "-tag", "-card"])
            // A first sync: tags, then all else.
            try expect(try await types(.all, .tagsOnly), is: ["+tag"])
            try expect(try await types(.all, .withoutTags), is: live.filter { $0 != "+tag" } + dead)
            try expect(try await types(.notes, .tagsOnly), is: [])
            try expect(try await types(.notes, .withoutTags), is: ["+note", "-note", "-tag", "-attachment"])
            try expect(try await types(some, .tagsOnly), is: ["+tag"])
            try expect(try await types(some, .withoutTags), is: ["+card", "-tag", "-card"])
            try expect(try await types(.deletedObjects, .tagsOnly), is: [])
            try expect(try await types(.deletedObjects, .withoutTags), is: dead)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("counts what a scan would give, for every selection, part and stretch") { (desk: Desk) in
            _ = try await desk.oneOfEach()
            let some = Selection.types(Set([.tag, ObjectType("card")].compactMap(\.self)))
            for selection in [.all, .notes, .tags, .attachments, .objects, .deletedObjects, some] as [Selection] {
                for part in [.all, .tagsOnly, .withoutTags] as [Scan.Rows] {
                    for stretch in [0...Int64.max, 3...7, 5...5, 11...20] as [ClosedRange<Int64>] {
                        let rows = try await desk.rows(selection, part, in: stretch)
                        let amount = ScanSize(objects: rows.count, bytes: rows.reduce(0) { $0 + $1.body.count })
                        let what = "\(selection.name), \(part), \(stretch)"
                        try expect(try await desk.amount(selection, part, in: stretch), is: amount, what)
                        let down = try await desk.rows(selection, part, in: stretch, newestFirst: true)
                        try expect(down, is: rows.reversed(), what)
                    }
                }
            }
        },
        Case("scans thousands of rows of many types in order") { (desk: Desk) in
            let ids = (0..<1_500).map { _ in UniqueID.random() }
            for start in stride(from: 0, to: ids.count, by: 500) {
                try await desk.push(
                    (start..<start + 500).map { index in
                        index % 7 == 0
                            ? desk.tag(ids[index], "tag \(index)", at: 1)
                            : index % 5 == 0
                                ? desk.object(ids[index], type: "type\(index % 3)", at: 1)
                                : desk.note(ids[index], "Milk", at: 1)
                    })
            }
            try await desk.push(stride(from: 0, to: ids.count, by: 11).map { desk.delete(ids[$0], desk.type($0)) })
            let rows = try await desk.rows()
            try expect(rows.count, is: 1_500)
            try expect(rows.map(\.sequence), is: rows.map(\.sequence).sorted())
            try expect(try await desk.rows(newestFirst: true), is: rows.reversed())
            let objects = try await desk.rows(.objects)
            try expect(objects, is: rows.filter { row in desk.type(ids.firstIndex(of: row.id) ?? 0).isAppDefined })
        },
    ]
}

extension Scan {
    static let everything = Scan(.all, rows: .all, sequences: 0...Int64.max, newestFirst: false)
}

extension Desk {
    /// What the case of thousands of rows makes of its index.
    fileprivate func type(_ index: Int) -> ObjectType {
        index % 7 == 0 ? .tag : index % 5 == 0 ? ObjectType("type\(index % 3)") ?? .note : .note
    }

    /// A live object and a DeletedObject of each of five types, in this order: sequence numbers 1 to 5 (live), then,
    /// after the numbers 6 to 10 of objects that were deleted, 11 to 15.
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
