import HesperModel
import HesperStore

extension StoreContract {
    static let pushCases: [Case] = [
        Case("numbers objects in the order of the push") { (desk: Desk) in
            let ids = (0..<5).map { _ in UniqueID.random() }
            let pushed = try await desk.push(ids.map { desk.note($0, "Milk", at: 1) })
            try expect(pushed.head.sequence, is: 5)
            try expect(ids.map { pushed.sequences[$0] }, is: [1, 2, 3, 4, 5])
            let again = try await desk.push(desk.set(ids[1], .archived, .bool(true), at: 2))
            try expect(again.sequences, is: [ids[1]: 6])
            try expect(try await desk.state(ids[1])?.sequence, is: 6)
            try expect(try await desk.state(ids[0])?.sequence, is: 1)
        },
        Case("gives back each object as it was folded") { (desk: Desk) in
            let (note, tag, attachment, board) = (
                UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random()
            )
            try await desk.bytesArrive(for: attachment)
            let text = "Café \u{65}\u{301} \"quoted\" \\ 北京\u{1F469}\u{200D}\u{1F680}\n\ttab\u{1}"
            try await desk.push(
                desk.tag(tag, "Paris", at: 1), desk.object(board, type: "board", at: 2),
                desk.change(
                    attachment, .attachments,
                    [Edit(.mimeType, .string("image/png"), at: nil), Edit(.width, .integer(640), at: nil)]),
                desk.note(
                    note, text, at: 3, (.tag(tag), .bool(true)), (.custom("pinned"), .bool(true)),
                    (.custom("ratio"), .number(0.1)), (.custom("none"), .null)))
            let found = try await desk.note(note)
            try expect(Array(found.text.utf8), is: Array(text.utf8), "the text")
            try expect(found.creationDate, is: Desk.date(3))
            try expect(found.textClock, is: desk.clock(3))
            try expect(found.tags.raw, is: [tag])
            try expect(found.attributes["ratio"]?.value, is: .number(0.1))
            try expect(found.attributes["none"]?.value, is: .null)
            guard case .entity(.tag(let storedTag), _)? = try await desk.state(tag),
                case .entity(.attachment(let storedAttachment), _)? = try await desk.state(attachment),
                case .entity(.object(let storedBoard), _)? = try await desk.state(board)
            else { throw Violation(description: "an object is of another kind") }
            try expect(storedTag.name, is: "Paris")
            try expect(storedAttachment[.width], is: .integer(640))
            try expect(storedBoard.objectType?.name, is: "board")
        },
        Case("lets edits wait for what makes their object exist") { (desk: Desk) in
            let (note, board) = (UniqueID.random(), UniqueID.random())
            let first = try await desk.push(
                desk.set(note, .text, .string("early"), at: 1),
                desk.change(board, .objects, [Edit(.custom("size"), .integer(1), at: desk.clock(1))]))
            try expect(first.head.sequence, is: 0)
            try expect(first.head.digest, is: .zero)
            try expect(first.sequences, is: [:])
            try expect(try await desk.state(note)?.sequence, is: nil)
            try expect(try await desk.rows().count, is: 0)
            try expect(try await desk.read { try $0.usage(of: desk.scope).objects }, is: 0)
            let second = try await desk.push(
                desk.change(note, .notes, [Edit(.creationDate, .date(Desk.date(0)), at: nil)]),
                desk.change(board, .objects, [Edit(.objectType, .string("board"), at: nil)]))
            try expect(second.sequences, is: [note: 1, board: 2])
            try expect(try await desk.note(note).text, is: "early")
            try expect(try await desk.rows().map(\.id), is: [note, board])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("keeps the greatest clock and the server's") { (desk: Desk) in
            let id = UniqueID.random()
            try await desk.push(desk.note(id, "one", at: 50))
            try await desk.push(desk.set(id, .archived, .bool(true), at: 20))
            let locked = try await desk.store.write { try unwrap(try $0.lock(desk.scope)) }
            try expect(locked.greatestClock, is: desk.clock(50))
            try expect(locked.serverClock, is: nil)
            // Two texts from one base: the server merges, under a clock of its own.
            let others = NodeID.random()
            try await desk.push(
                desk.set(id, .text, .string("one two"), at: 60),
                desk.set(id, .text, .string("zero one"), at: 55, by: others))
            let merged = try await desk.store.write { try unwrap(try $0.lock(desk.scope)) }
            try expect(merged.greatestClock.map { $0 >= desk.clock(60) } ?? false)
            try expect(merged.head, is: try unwrap(try await desk.read { try $0.head(of: desk.scope) }))
        },
        Case("knows no scope that was never made") { (desk: Desk) in
            let unknown = ScopeID(desk.scope.rawValue + 1_000)
            try expect(try await desk.store.write { try $0.lock(unknown) }, is: nil)
            try expect(try await desk.read { try $0.head(of: unknown) }, is: nil)
            try expect(try await desk.read { try $0.state(of: .random(), in: unknown) }, is: nil)
        },
        Case("counts what an account holds") { (desk: Desk) in
            let (note, dead) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(note, "Milk", at: 1), desk.note(dead, "Bread", at: 1))
            try await desk.push(desk.delete(dead))
            let body = try await desk.rows().filter { $0.id == note }.map(\.body.count)
            try expect(
                try await desk.read { try $0.usage(of: desk.scope) },
                is: Usage(objects: 1, bytes: body[0], storage: try await desk.read { try $0.storage(of: desk.scope) }))
        },
    ]
}
