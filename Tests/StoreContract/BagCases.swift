import HesperModel
import HesperStore

extension StoreContract {
    static let bagCases: [Case] = [
        Case("states are returned for known objects only") { (client: Client) in
            let (live, deleted, waiting) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await client.push(client.note(live, "Milk", at: 1), client.set(waiting, .text, .string("early"), at: 1))
            try await client.push(client.delete(deleted))
            let states = try await client.bag { try $0.states(of: [live, .random(), deleted, waiting, live]) }
            try expect(Set(states.keys), is: [live, deleted, waiting])
            for id in [live, deleted, waiting] { try expect(states[id], is: try await client.state(id)) }
            try expect(states[waiting]?.sequence, is: nil)
        },
        Case("loading objects counts their bytes and stops at the limit") { (client: Client) in
            let ids = (0..<18).map { _ in UniqueID.random() }
            // More than PostgreSQL returns in one result.
            let text = String(repeating: "x", count: 1_000_000)
            try await client.push(ids.map { client.note($0, text, at: 1) })
            var bytes = 0
            for id in ids {
                guard case .entity(let entity, _)? = try await client.state(id) else { continue }
                bytes += entity.body.count
            }
            let exact = bytes
            try expect(exact > 17 << 20)
            let states = try await client.bag { bag in
                var load = BagLoad(limit: exact)
                return try bag.states(of: ids + [.random()], counting: &load)
            }
            try expect(Set(states.keys), is: Set(ids))
            do {
                _ = try await client.bag { bag in
                    var load = BagLoad(limit: exact - 1)
                    return try bag.states(of: ids, counting: &load)
                }
                throw Violation(description: "more bytes were loaded than the limit")
            } catch let problem as Problem { try expect(problem.slug, is: .tooLarge) }
            // Rewriting all of them in one push takes more than one statement.
            let archived = try await client.push(ids.map { client.set($0, .archived, .bool(true), at: 2) })
            try expect(archived.receipts.map(\.status), is: Array(repeating: .applied, count: ids.count))
            for id in ids {
                let note = try await client.note(id)
                try expect(note.archived && note.text == text)
            }
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a live tag is found by its folded name after renames and swaps") { (client: Client) in
            let (car, bike) = (UniqueID(high: 1, low: 1), UniqueID(high: 2, low: 1))
            func tags(_ names: String...) async throws -> [UniqueID?] {
                try await client.read { snapshot in try names.map { try snapshot.tag(named: $0, in: client.scope) } }
            }
            try await client.push(client.tag(car, "Car", at: 1), client.tag(bike, "Straße", at: 1))
            try expect(try await tags("car", "strasse", "Car", ""), is: [car, bike, nil, nil])
            try expect(try await client.bag { try $0.tag(named: "car") }, is: car)
            // Two tags swap their names in one push.
            try await client.push(client.tag(car, "STRASSE", at: 2), client.tag(bike, "car", at: 2))
            try expect(try await tags("car", "strasse"), is: [bike, car])
            // A change of case does not change the folded name.
            try await client.push(client.tag(bike, "CAR", at: 3))
            try expect(try await tags("car", "strasse"), is: [bike, car])
            // Renaming a tag to the name of another merges them. The lower ID remains.
            try await client.push(client.tag(bike, "Strasse", at: 4))
            try expect(try await tags("car", "strasse"), is: [nil, car])
            // A tag is deleted and another created with its name in one push.
            let again = UniqueID.random()
            try await client.push(client.delete(car, .tag), client.tag(again, "Strasse", at: 5))
            try expect(try await tags("strasse"), is: [again])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("folded names are compared by their bytes") { (client: Client) in
            let tag = UniqueID.random()
            try await client.push(client.tag(tag, "Caf\u{e9}", at: 1))
            try expect(try await client.read { try $0.tag(named: "caf\u{e9}", in: client.scope) }, is: tag)
            try expect(try await client.read { try $0.tag(named: "cafe\u{301}", in: client.scope) }, is: nil)
            try expect(try await client.read { try $0.tag(named: "cafe", in: client.scope) }, is: nil)
        },
        Case("the notes that hold a member are found by their registers") { (client: Client) in
            let (picture, first, second) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await client.bytesArrive(for: picture)
            try await client.push(
                client.change(picture, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)]),
                client.note(first, "Milk", at: 1, (.attachment(picture), .bool(true))),
                client.note(second, "Bread", at: 1))
            try expect(try await client.holders(picture), is: [first])
            // The attachment moves in one push.
            try await client.push(
                client.set(second, .attachment(picture), .bool(true), at: 2),
                client.set(first, .attachment(picture), .bool(false), at: 2))
            try expect(try await client.holders(picture), is: [second])
            try await client.push(client.delete(second))
            try expect(try await client.holders(picture), is: [])
            // A note that does not exist yet holds the attachment too. Otherwise it could later appear beside another holder.
            let waiting = UniqueID.random()
            try await client.push(client.set(waiting, .attachment(picture), .bool(true), at: 3))
            try expect(try await client.holders(picture), is: [waiting])
            let refused = try await client.push(client.set(first, .attachment(picture), .bool(true), at: 4))
            try expect(refused.receipts.first?.fields["attachments.\(picture)"]?.problem?.slug, is: .attachmentInUse)
            try await client.push(client.change(waiting, .notes, [Edit(.creationDate, .date(Client.date(0)), at: nil)]))
            try expect(try await client.holders(picture), is: [waiting])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the parcels that may contain a clock are found, the newest first") { (client: Client) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            let wide = client.change(
                note, .notes,
                [
                    Edit(.archived, .bool(true), at: client.clock(10)),
                    Edit(.text, .string("wide"), at: client.clock(30)),
                ])
            try await client.push(client.note(note, "first", at: 1), client.note(other, "other", at: 20))
            try await client.push(wide)
            try await client.push(client.set(note, .sortDate, .date(Client.date(7)), at: 20))
            func texts(_ time: UInt64) async throws -> [[Attribute]] {
                try await client.bag {
                    try $0.parcels(of: note, holding: client.clock(time)).map { $0.edits.map(\.attribute) }
                }
            }
            try expect(try await texts(1), is: [[.creationDate, .text]])
            try expect(try await texts(5), is: [])
            try expect(try await texts(20), is: [[.sortDate], [.archived, .text]])
            try expect(try await texts(25), is: [[.archived, .text]])
            try expect(try await texts(31), is: [])
        },
        Case("the newest text of a node before a clock is found") { (client: Client) in
            let note = UniqueID.random()
            let (mine, other) = (client.device.node, NodeID.random())
            try await client.push(client.note(note, "one", at: 1))
            for time in [10, 20, 30] as [UInt64] {
                try await client.push(client.set(note, .text, .string("by me \(time)"), at: time))
                try await client.push(client.set(note, .text, .string("by the other \(time)"), at: time + 5, by: other))
                try await client.push(client.set(note, .archived, .bool(true), at: time + 7))
            }
            func newest(_ node: NodeID, _ time: UInt64) async throws -> Clock? {
                try await client.bag { try $0.newest(.text, of: note, by: node, before: client.clock(time, by: node)) }
            }
            try expect(try await newest(mine, 100), is: client.clock(30))
            try expect(try await newest(mine, 30), is: client.clock(20))
            try expect(try await newest(mine, 11), is: client.clock(10))
            try expect(try await newest(mine, 1), is: nil)
            try expect(try await newest(other, 100), is: client.clock(35, by: other))
            try expect(try await newest(other, 36), is: client.clock(35, by: other))
            try expect(try await newest(.random(), 100), is: nil)
        },
        Case("missing ancestors of texts are stored, and the text at a sequence number is found") {
            (client: Client) in
            let (note, other) = (UniqueID.random(), NodeID.random())
            func text(_ text: String, _ time: UInt64, _ base: UInt64?, after: [UInt64] = []) -> Push.Element {
                .change(
                    Change(
                        uniqueID: note, section: .notes, edits: [Edit(.text, .string(text), at: client.clock(time))],
                        textBase: base.map { client.clock($0) }, textAfter: after.map { client.clock($0, by: other) }))
            }
            func descents() async throws -> [TextDescent] {
                try await client.bag { try $0.descents(of: .text, of: note) }.sorted { $0.clock < $1.clock }
            }
            let made = try await client.push(client.note(note, "one", at: 1))
            try expect(try await descents(), is: [])
            let second = try await client.push(text("one two", 5, 1, after: [3, 4]))
            let missing = [client.clock(3, by: other), client.clock(4, by: other)]
            let first = TextDescent(
                clock: client.clock(5), missingAncestors: missing, sequence: second.head.sequence)
            try expect(try await descents(), is: [first])
            let third = try await client.push(text("one two three", 7, 7), text("one two three four", 8, 7))
            let descendant = TextDescent(
                clock: client.clock(7), missingAncestors: [client.clock(7)], sequence: third.head.sequence)
            try expect(try await descents(), is: [first, descendant])
            func currentText(at sequence: Int64) async throws -> Clock? {
                try await client.bag { try $0.current(.text, of: note, at: sequence) }
            }
            try expect(try await currentText(at: made.head.sequence - 1), is: nil)
            try expect(try await currentText(at: made.head.sequence), is: client.clock(1))
            try expect(try await currentText(at: second.head.sequence), is: client.clock(5))
            try expect(try await currentText(at: .max), is: client.clock(8))
            try expect(try await client.bag { try $0.descents(of: .text, of: .random()) }, is: [])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("a note that was rescued from a deletion is stored without a pushing device") { (client: Client) in
            let (note, picture, other) = (UniqueID.random(), UniqueID.random(), NodeID.random())
            try await client.bytesArrive(for: picture)
            try await client.push(
                client.change(picture, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)]),
                client.note(note, "Milk", at: 1, (.attachment(picture), .bool(true))))
            try await client.push(client.set(note, .text, .string("Milk and bread"), at: 5, by: other))
            let deletion = Deletion(uniqueID: note, objectType: .note, seenTexts: [.text: client.clock(1)])
            let pushed = try await client.push(.deletion(deletion))
            try expect(pushed.receipts.map(\.status), is: [.rescued])
            let rescued = try await client.note(note.rescue)
            try expect(rescued.text, is: "Milk and bread")
            try expect(rescued.attachments.raw, is: [picture])
            try expect(try await client.holders(picture), is: [note.rescue])
            guard case .deleted(let deleted, _)? = try await client.state(note) else {
                throw Violation(description: "the note is not deleted")
            }
            try expect(deleted.rescuedInto, is: note.rescue)
            try expect(deleted.mergedInto, is: nil)
            let history = try await client.read {
                try $0.history(of: note.rescue, in: client.scope, before: nil, limit: 9)
            }
            try expect(history.map(\.pushedBy), is: [nil])
            try expect(history.map(\.parcel.isServerMade), is: [true])
            // Parcels of the deleted note that arrived before the rescue are found for the new note; later ones are not.
            try await client.push(client.set(note, .text, .string("late"), at: 7, by: other))
            let found = try await client.bag { bag in
                try [client.clock(1), client.clock(5, by: other), client.clock(7, by: other)].map { clock in
                    try bag.parcels(rescuedInto: note.rescue, holding: clock).count
                }
            }
            try expect(found, is: [1, 1, 0])
            try expect(
                try await client.bag { try $0.parcels(rescuedInto: note, holding: client.clock(1)).count }, is: 0)
            // Deleting the original again changes nothing.
            let again = try await client.push(
                .deletion(Deletion(uniqueID: note, objectType: .note, seenTexts: [:])))
            try expect(again.receipts.map(\.status), is: [.unchanged])
            // An earlier deletion changes the DeletedObject, but not which parcels arrived before the rescue.
            let date = Timestamp(clamping: deleted.deletionDate.milliseconds - 1)
            let earlier = Deletion(uniqueID: note, objectType: .note, deletionDate: date)
            try expect(try await client.push(.deletion(earlier)).receipts.map(\.status), is: [.applied])
            try expect(
                try await client.bag {
                    try $0.parcels(rescuedInto: note.rescue, holding: client.clock(7, by: other)).count
                }, is: 0)
            try expect(try await client.inconsistencies(), is: [])
        },
    ]
}

extension Client {
    /// Runs `body` with the scope's bag, in a transaction that writes nothing.
    func bag<T: Sendable>(_ body: @escaping @Sendable (any Bag) throws -> T) async throws -> T {
        try await store.write { try body($0.bag(of: scope)) }
    }

    func holders(_ member: UniqueID) async throws -> [UniqueID] { try await bag { try $0.holders(of: member) } }
}
