import HesperModel
import HesperStore

/// The texts and files of apps' own objects.
extension StoreContract {
    static let objectTextCases: [Case] = [
        Case("the versions of an app object's texts are found by the names of the texts") { (client: Client) in
            let (id, other) = (UniqueID.random(), NodeID.random())
            try await client.push(client.texts(id, ["a": "one\n", "b": "two\n"], at: 1, type: "page"))
            let second = try await client.push(
                client.texts(id, ["a": "one\nmore\n"], at: 5, base: 1, after: [client.clock(3, by: other)]))
            // The clock of a version of one text may be the clock of a version of another.
            try await client.push(client.texts(id, ["b": "two\nmore\n"], at: 5, base: 1))
            func newest(_ text: Attribute, _ time: UInt64) async throws -> Clock? {
                let node = client.device.node
                return try await client.bag { try $0.newest(text, of: id, by: node, before: client.clock(time)) }
            }
            try expect(try await newest(.namedText("a"), 9), is: client.clock(5))
            try expect(try await newest(.namedText("a"), 5), is: client.clock(1))
            try expect(try await newest(.namedText("b"), 9), is: client.clock(5))
            try expect(try await newest(.namedText("c"), 9), is: nil)
            try expect(try await newest(.text, 9), is: nil)
            let missing = TextDescent(
                clock: client.clock(5), missingAncestors: [client.clock(3, by: other)], sequence: second.head.sequence)
            for (name, found) in [("a", [missing]), ("b", [])] {
                try expect(try await client.bag { try $0.descents(of: .namedText(name), of: id) }, is: found)
            }
            try expect(try await client.bag { try $0.descents(of: .text, of: id) }, is: [])
            for (name, time) in [("a", 5), ("b", 1)] as [(String, UInt64)] {
                let current = try await client.bag {
                    try $0.current(.namedText(name), of: id, at: second.head.sequence)
                }
                try expect(current, is: client.clock(time))
            }
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("of an app object's texts with the same clock only the one that lost words is marked") {
            (client: Client) in
            let id = UniqueID.random()
            try await client.push(client.texts(id, ["a": "a red car\n", "b": "a red car\n"], at: 1, type: "page"))
            try await client.push(client.texts(id, ["a": "a blue car\n", "b": "a blue car\n"], at: 3, base: 1))
            // Only in the text `a` does the later replacement contest "blue".
            try await client.push(
                client.texts(id, ["a": "a green car\n"], at: 4, base: 1, by: NodeID(0xb)))
            let sweep = try unwrap(try await client.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await client.edits(sweep).edits
            try await client.store.write { for edit in edits { try $0.record(edit, of: sweep) } }
            let lost = try await client.versions(id).filter(\.version.hasLostWords)
            try expect(lost.map(\.attribute), is: [.namedText("a")])
            try expect(lost.map(\.version.clock), is: [client.clock(3)])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the files of an app object hold attachments, which its deletion lets go") { (client: Client) in
            let (id, first, second) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            for picture in [first, second] {
                try await client.bytesArrive(for: picture)
                try await client.push(client.attachment(picture))
            }
            func unheld(_ picture: UniqueID) async throws -> Timestamp? {
                try await client.read { try $0.unheldDate(of: picture, in: client.scope) }
            }
            func set(_ file: UniqueID?, _ time: UInt64) -> Push.Element {
                let value = file.map { Value.string($0.description) } ?? .null
                return client.change(id, .objects, [Edit(.file("photo"), value, at: client.clock(time))])
            }
            try await client.push(set(first, 1))
            try expect(try await client.holders(first), is: [id], "an object that does not exist yet holds its files")
            try await client.push(client.object(id, type: "recipe", at: 1))
            try expect(try await unheld(first), is: nil)
            // Of two files, the one with the greater clock is held.
            try await client.push(set(second, 3))
            try await client.push(set(first, 2))
            try expect(try await client.holders(first), is: [])
            try expect(try await client.holders(second), is: [id])
            try expect(try await unheld(first), is: Client.now)
            try expect(try await unheld(second), is: nil)
            try expect(try await client.inconsistencies(), is: [])
            try await client.push(client.delete(id, ObjectType("recipe") ?? .note))
            try expect(try await client.holders(second), is: [])
            try expect(try await unheld(second), is: Client.now)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("an app object that was rescued from a deletion is stored, and its DeletedObject names it") {
            (client: Client) in
            let (id, other) = (UniqueID.random(), NodeID.random())
            let type = ObjectType("page") ?? .note
            try await client.push(client.texts(id, ["a": "Milk\n", "b": "Tea\n"], at: 1, type: "page"))
            try await client.push(client.texts(id, ["a": "Milk\nBread\n"], at: 5, base: 1, by: other))
            let seen: [Attribute: Clock] = [.namedText("a"): client.clock(1), .namedText("b"): client.clock(1)]
            let pushed = try await client.push(.deletion(Deletion(uniqueID: id, objectType: type, seenTexts: seen)))
            try expect(pushed.receipts.map(\.status), is: [.rescued])
            guard case .entity(.object(let rescued), .some)? = try await client.state(id.rescue),
                case .deleted(let deleted, _)? = try await client.state(id)
            else { throw Violation(description: "the object was not rescued") }
            try expect(rescued.objectType, is: type)
            try expect(rescued.texts.registers.mapValues(\.value), is: ["a": .string("Milk\nBread\n")])
            try expect(deleted.rescuedInto, is: id.rescue)
            let found = try await client.bag {
                try $0.parcels(rescuedInto: id.rescue, holding: client.clock(1)).count
            }
            try expect(found, is: 2)
            try expect(try await client.inconsistencies(), is: [])
        },
    ]
}

extension Client {
    /// A change of the texts of an app object, which are all set at `time`.
    /// - Parameter base: the time of the clock of the version on which each text is based.
    fileprivate func texts(
        _ id: UniqueID, _ texts: [String: String], at time: UInt64, base: UInt64? = nil, after: [Clock] = [],
        by node: NodeID? = nil, type: String? = nil
    ) -> Push.Element {
        let edits = texts.sorted { $0.key < $1.key }.map {
            Edit(.namedText($0.key), .string($0.value), at: clock(time, by: node))
        }
        let ancestry = TextAncestry(base: base.map { clock($0) }, after: after)
        return .change(
            Change(
                uniqueID: id, section: .objects,
                edits: (type.map { [Edit(.objectType, .string($0), at: nil)] } ?? []) + edits,
                ancestries: Dictionary(uniqueKeysWithValues: edits.map { ($0.attribute, ancestry) })))
    }
}
