import HesperModel
import HesperStore

extension StoreContract {
    static let bagCases: [Case] = [
        Case("gives the states of those it knows") { (desk: Desk) in
            let (live, dead, waiting) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(live, "Milk", at: 1), desk.set(waiting, .text, .string("early"), at: 1))
            try await desk.push(desk.delete(dead))
            let states = try await desk.bag { try $0.states(of: [live, .random(), dead, waiting, live]) }
            try expect(Set(states.keys), is: [live, dead, waiting])
            for id in [live, dead, waiting] { try expect(states[id], is: try await desk.state(id)) }
            try expect(states[waiting]?.sequence, is: nil)
        },
        Case("counts the bodies that it loads, and loads no more than may be") { (desk: Desk) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            // More than an answer of PostgreSQL has at once.
            let text = String(repeating: "\u{1}", count: 500_000)
            try await desk.push(ids.map { desk.note($0, text, at: 1) })
            var bytes = 0
            for id in ids {
                guard case .entity(let entity, _)? = try await desk.state(id) else { continue }
                bytes += entity.body.count
            }
            let exact = bytes
            try expect(exact > 17 << 20)
            let states = try await desk.bag { bag in
                var load = BagLoad(limit: exact)
                return try bag.states(of: ids + [.random()], counting: &load)
            }
            try expect(Set(states.keys), is: Set(ids))
            do {
                _ = try await desk.bag { bag in
                    var load = BagLoad(limit: exact - 1)
                    return try bag.states(of: ids, counting: &load)
                }
                throw Violation(description: "more was loaded than may be")
            } catch let problem as Problem { try expect(problem.slug, is: .tooLarge) }
            // All of them are rewritten in one push, which takes more than one statement.
            let archived = try await desk.push(ids.map { desk.set($0, .archived, .bool(true), at: 2) })
            try expect(archived.receipts.map(\.status), is: Array(repeating: .applied, count: ids.count))
            for id in ids {
                let note = try await desk.note(id)
                try expect(note.archived && note.text == text)
            }
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("finds a live tag by its folded name, through renames and swaps") { (desk: Desk) in
            let (car, bike) = (UniqueID(high: 1, low: 1), UniqueID(high: 2, low: 1))
            func tags(_ names: String...) async throws -> [UniqueID?] {
                try await desk.read { snapshot in try names.map { try snapshot.tag(named: $0, in: desk.scope) } }
            }
            try await desk.push(desk.tag(car, "Car", at: 1), desk.tag(bike, "Straße", at: 1))
            try expect(try await tags("car", "strasse", "Car", ""), is: [car, bike, nil, nil])
            try expect(try await desk.bag { try $0.tag(named: "car") }, is: car)
            // Two swap their names in one push.
            try await desk.push(desk.tag(car, "STRASSE", at: 2), desk.tag(bike, "car", at: 2))
            try expect(try await tags("car", "strasse"), is: [bike, car])
            // A change of case alone keeps the name.
            try await desk.push(desk.tag(bike, "CAR", at: 3))
            try expect(try await tags("car", "strasse"), is: [bike, car])
            // A rename onto another's name makes them one: the lesser ID lives.
            try await desk.push(desk.tag(bike, "Strasse", at: 4))
            try expect(try await tags("car", "strasse"), is: [nil, car])
            // Deleted and made again in one push.
            let again = UniqueID.random()
            try await desk.push(desk.delete(car, .tag), desk.tag(again, "Strasse", at: 5))
            try expect(try await tags("strasse"), is: [again])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("compares folded names by their bytes") { (desk: Desk) in
            let tag = UniqueID.random()
            try await desk.push(desk.tag(tag, "Caf\u{e9}", at: 1))
            try expect(try await desk.read { try $0.tag(named: "caf\u{e9}", in: desk.scope) }, is: tag)
            try expect(try await desk.read { try $0.tag(named: "cafe\u{301}", in: desk.scope) }, is: nil)
            try expect(try await desk.read { try $0.tag(named: "cafe", in: desk.scope) }, is: nil)
        },
        Case("knows which notes hold a member, by their own registers") { (desk: Desk) in
            let (picture, first, second) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await desk.bytesArrive(for: picture)
            try await desk.push(
                desk.change(picture, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)]),
                desk.note(first, "Milk", at: 1, (.attachment(picture), .bool(true))), desk.note(second, "Bread", at: 1))
            try expect(try await desk.holders(picture), is: [first])
            // Moved in one push.
            try await desk.push(
                desk.set(second, .attachment(picture), .bool(true), at: 2),
                desk.set(first, .attachment(picture), .bool(false), at: 2))
            try expect(try await desk.holders(picture), is: [second])
            try await desk.push(desk.delete(second))
            try expect(try await desk.holders(picture), is: [])
            // A note that waits holds it already: else it would turn up later beside another holder.
            let waiting = UniqueID.random()
            try await desk.push(desk.set(waiting, .attachment(picture), .bool(true), at: 3))
            try expect(try await desk.holders(picture), is: [waiting])
            let refused = try await desk.push(desk.set(first, .attachment(picture), .bool(true), at: 4))
            try expect(refused.receipts.first?.fields["attachments.\(picture)"]?.problem?.slug, is: .attachmentInUse)
            try await desk.push(desk.change(waiting, .notes, [Edit(.creationDate, .date(Desk.date(0)), at: nil)]))
            try expect(try await desk.holders(picture), is: [waiting])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("finds the parcels that may hold a clock, the newest first") { (desk: Desk) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            let wide = desk.change(
                note, .notes,
                [Edit(.archived, .bool(true), at: desk.clock(10)), Edit(.text, .string("wide"), at: desk.clock(30))])
            try await desk.push(desk.note(note, "first", at: 1), desk.note(other, "other", at: 20))
            try await desk.push(wide)
            try await desk.push(desk.set(note, .sortDate, .date(Desk.date(7)), at: 20))
            func texts(_ time: UInt64) async throws -> [[Attribute]] {
                try await desk.bag {
                    try $0.parcels(of: note, holding: desk.clock(time)).map { $0.edits.map(\.attribute) }
                }
            }
            try expect(try await texts(1), is: [[.creationDate, .text]])
            try expect(try await texts(5), is: [])
            try expect(try await texts(20), is: [[.sortDate], [.archived, .text]])
            try expect(try await texts(25), is: [[.archived, .text]])
            try expect(try await texts(31), is: [])
        },
        Case("finds the newest text by a node before a clock") { (desk: Desk) in
            let note = UniqueID.random()
            let (mine, other) = (desk.device.node, NodeID.random())
            try await desk.push(desk.note(note, "one", at: 1))
            for time in [10, 20, 30] as [UInt64] {
                try await desk.push(desk.set(note, .text, .string("by me \(time)"), at: time))
                try await desk.push(desk.set(note, .text, .string("by the other \(time)"), at: time + 5, by: other))
                try await desk.push(desk.set(note, .archived, .bool(true), at: time + 7))
            }
            func newest(_ node: NodeID, _ time: UInt64) async throws -> Clock? {
                try await desk.bag { try $0.newestText(of: note, by: node, before: desk.clock(time, by: node)) }
            }
            try expect(try await newest(mine, 100), is: desk.clock(30))
            try expect(try await newest(mine, 30), is: desk.clock(20))
            try expect(try await newest(mine, 11), is: desk.clock(10))
            try expect(try await newest(mine, 1), is: nil)
            try expect(try await newest(other, 100), is: desk.clock(35, by: other))
            try expect(try await newest(other, 36), is: desk.clock(35, by: other))
            try expect(try await newest(.random(), 100), is: nil)
        },
        Case("keeps what texts say of texts that it lacks, and finds the text that stood at a sequence") {
            (desk: Desk) in
            let (note, other) = (UniqueID.random(), NodeID.random())
            func text(_ text: String, _ time: UInt64, _ base: UInt64?, after: [UInt64] = []) -> Push.Element {
                .change(
                    Change(
                        uniqueID: note, section: .notes, edits: [Edit(.text, .string(text), at: desk.clock(time))],
                        textBase: base.map { desk.clock($0) }, textAfter: after.map { desk.clock($0, by: other) }))
            }
            func descents() async throws -> [TextDescent] {
                try await desk.bag { try $0.textDescents(of: note) }.sorted { $0.clock < $1.clock }
            }
            let made = try await desk.push(desk.note(note, "one", at: 1))
            try expect(try await descents(), is: [])
            let second = try await desk.push(text("one two", 5, 1, after: [3, 4]))
            let missing = [desk.clock(3, by: other), desk.clock(4, by: other)]
            let first = TextDescent(
                clock: desk.clock(5), missingAncestors: missing, sequence: second.head.sequence)
            try expect(try await descents(), is: [first])
            let third = try await desk.push(text("one two three", 7, 7), text("one two three four", 8, 7))
            let givenBack = TextDescent(
                clock: desk.clock(7), missingAncestors: [desk.clock(7)], sequence: third.head.sequence)
            try expect(try await descents(), is: [first, givenBack])
            func standing(_ sequence: Int64) async throws -> Clock? {
                try await desk.bag { try $0.currentText(of: note, at: sequence) }
            }
            try expect(try await standing(made.head.sequence - 1), is: nil)
            try expect(try await standing(made.head.sequence), is: desk.clock(1))
            try expect(try await standing(second.head.sequence), is: desk.clock(5))
            try expect(try await standing(.max), is: desk.clock(8))
            try expect(try await desk.bag { try $0.textDescents(of: .random()) }, is: [])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("keeps a note that was rescued from a deletion, which no device has pushed") { (desk: Desk) in
            let (note, picture, other) = (UniqueID.random(), UniqueID.random(), NodeID.random())
            try await desk.bytesArrive(for: picture)
            try await desk.push(
                desk.change(picture, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)]),
                desk.note(note, "Milk", at: 1, (.attachment(picture), .bool(true))))
            try await desk.push(desk.set(note, .text, .string("Milk and bread"), at: 5, by: other))
            let deletion = Deletion(uniqueID: note, objectType: .note, textSeen: .version(desk.clock(1)))
            let pushed = try await desk.push(.deletion(deletion))
            try expect(pushed.receipts.map(\.status), is: [.rescued])
            let rescued = try await desk.note(note.rescue)
            try expect(rescued.text, is: "Milk and bread")
            try expect(rescued.attachments.raw, is: [picture])
            try expect(try await desk.holders(picture), is: [note.rescue])
            guard case .deleted(let deleted, _)? = try await desk.state(note) else {
                throw Violation(description: "the note is not deleted")
            }
            try expect(deleted.rescuedInto, is: note.rescue)
            try expect(deleted.mergedInto, is: nil)
            let history = try await desk.read {
                try $0.history(of: note.rescue, in: desk.scope, before: nil, limit: 9)
            }
            try expect(history.map(\.pushedBy), is: [nil])
            try expect(history.map(\.parcel.isServerMade), is: [true])
            // What the deleted note had before is found for what is moved to the new one, and nothing that came later.
            try await desk.push(desk.set(note, .text, .string("late"), at: 7, by: other))
            let found = try await desk.bag { bag in
                try [desk.clock(1), desk.clock(5, by: other), desk.clock(7, by: other)].map { clock in
                    try bag.parcels(rescuedInto: note.rescue, holding: clock).count
                }
            }
            try expect(found, is: [1, 1, 0])
            try expect(try await desk.bag { try $0.parcels(rescuedInto: note, holding: desk.clock(1)).count }, is: 0)
            // It is deleted like any other, and so is what was made of it.
            let again = try await desk.push(
                .deletion(Deletion(uniqueID: note, objectType: .note, textSeen: Deletion.TextSeen.none)))
            try expect(again.receipts.map(\.status), is: [.unchanged])
            try expect(try await desk.inconsistencies(), is: [])
        },
    ]
}

extension Desk {
    /// Asks the bag, in a transaction that writes nothing.
    func bag<T: Sendable>(_ body: @escaping @Sendable (any Bag) throws -> T) async throws -> T {
        try await store.write { try body($0.bag(of: scope)) }
    }

    func holders(_ member: UniqueID) async throws -> [UniqueID] { try await bag { try $0.holders(of: member) } }
}
