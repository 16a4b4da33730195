import HesperModel
import HesperStore

extension StoreContract {
    static let pushCases: [Case] = [
        Case("sequence numbers are assigned in the order of the push") { (client: Client) in
            let ids = (0..<5).map { _ in UniqueID.random() }
            let pushed = try await client.push(ids.map { client.note($0, "Milk", at: 1) })
            try expect(pushed.head.sequence, is: 5)
            try expect(ids.map { pushed.sequences[$0] }, is: [1, 2, 3, 4, 5])
            let again = try await client.push(client.set(ids[1], .archived, .bool(true), at: 2))
            try expect(again.sequences, is: [ids[1]: 6])
            try expect(try await client.state(ids[1])?.sequence, is: 6)
            try expect(try await client.state(ids[0])?.sequence, is: 1)
        },
        Case("objects are stored as they were folded") { (client: Client) in
            let (note, tag, attachment, board) = (
                UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random()
            )
            try await client.bytesArrive(for: attachment)
            let text = "Café \u{65}\u{301} \"quoted\" \\ 北京\u{1F469}\u{200D}\u{1F680}\n\ttab\u{1}"
            try await client.push(
                client.tag(tag, "Paris", at: 1), client.object(board, type: "board", at: 2),
                client.change(
                    attachment, .attachments,
                    [Edit(.mimeType, .string("image/png"), at: nil), Edit(.width, .integer(640), at: nil)]),
                client.note(
                    note, text, at: 3, (.tag(tag), .bool(true)), (.custom("pinned"), .bool(true)),
                    (.custom("ratio"), .number(0.1)), (.custom("none"), .null)))
            let found = try await client.note(note)
            try expect(Array(found.text.utf8), is: Array(text.utf8), "the text")
            try expect(found.creationDate, is: Client.date(3))
            try expect(found.textClock, is: client.clock(3))
            try expect(found.tags.raw, is: [tag])
            try expect(found.attributes["ratio"]?.value, is: .number(0.1))
            try expect(found.attributes["none"]?.value, is: .null)
            guard case .entity(.tag(let storedTag), _)? = try await client.state(tag),
                case .entity(.attachment(let storedAttachment), _)? = try await client.state(attachment),
                case .entity(.object(let storedBoard), _)? = try await client.state(board)
            else { throw Violation(description: "an object has another type") }
            try expect(storedTag.name, is: "Paris")
            try expect(storedAttachment[.width], is: .integer(640))
            try expect(storedBoard.objectType?.name, is: "board")
        },
        Case("edits are stored before the edits that make their object exist") { (client: Client) in
            let (note, board) = (UniqueID.random(), UniqueID.random())
            let first = try await client.push(
                client.set(note, .text, .string("early"), at: 1),
                client.change(board, .objects, [Edit(.custom("size"), .integer(1), at: client.clock(1))]))
            try expect(first.head.sequence, is: 0)
            try expect(first.head.digest, is: .zero)
            try expect(first.sequences, is: [:])
            try expect(try await client.state(note)?.sequence, is: nil)
            try expect(try await client.rows().count, is: 0)
            try expect(try await client.read { try $0.usage(of: client.scope).objects }, is: 0)
            let second = try await client.push(
                client.change(note, .notes, [Edit(.creationDate, .date(Client.date(0)), at: nil)]),
                client.change(board, .objects, [Edit(.objectType, .string("board"), at: nil)]))
            try expect(second.sequences, is: [note: 1, board: 2])
            try expect(try await client.note(note).text, is: "early")
            try expect(try await client.rows().map(\.id), is: [note, board])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the greatest clock and the server's clock are stored") { (client: Client) in
            let id = UniqueID.random()
            try await client.push(client.note(id, "one", at: 50))
            try await client.push(client.set(id, .archived, .bool(true), at: 20))
            let locked = try await client.store.write { try unwrap(try $0.lock(client.scope)) }
            try expect(locked.greatestClock, is: client.clock(50))
            try expect(locked.serverClock, is: nil)
            // The server merges two texts with one base, with a clock of its own.
            let others = NodeID.random()
            try await client.push(
                client.set(id, .text, .string("one two"), at: 60),
                client.set(id, .text, .string("zero one"), at: 55, by: others))
            let merged = try await client.store.write { try unwrap(try $0.lock(client.scope)) }
            try expect(merged.greatestClock.map { $0 >= client.clock(60) } ?? false)
            try expect(merged.head, is: try unwrap(try await client.read { try $0.head(of: client.scope) }))
        },
        Case("a scope that was never created does not exist") { (client: Client) in
            let unknown = ScopeID(client.scope.rawValue + 1_000)
            try expect(try await client.store.write { try $0.lock(unknown) }, is: nil)
            try expect(try await client.read { try $0.head(of: unknown) }, is: nil)
            try expect(try await client.read { try $0.state(of: .random(), in: unknown) }, is: nil)
        },
        Case("the usage of an account counts live objects and their bytes") { (client: Client) in
            let (note, deleted) = (UniqueID.random(), UniqueID.random())
            try await client.push(client.note(note, "Milk", at: 1), client.note(deleted, "Bread", at: 1))
            try await client.push(client.delete(deleted))
            let body = try await client.rows().filter { $0.id == note }.map(\.body.count)
            try expect(
                try await client.read { try $0.usage(of: client.scope) },
                is: Usage(
                    objects: 1, bytes: body[0], storage: try await client.read { try $0.storage(of: client.scope) }))
        },
    ]
}
