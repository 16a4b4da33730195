import HesperModel
import HesperStore

extension StoreContract {
    static let revocationCases: [Case] = [
        Case(
            "31: moves, edits and creations by a lost device are undone",
            lost: { lost in
                let (phone, laptop) = (lost.phone.node, lost.laptop)
                let (paris, rome) = (
                    try await lost.makeTag("Paris", by: laptop, at: 1), try await lost.makeTag("Rome", by: phone, at: 2)
                )
                let picture = try await lost.makePicture(by: laptop, at: 3)
                let first = try await lost.makeNote(
                    "Milk", by: laptop, at: 4, (.tag(paris), .bool(true)), (.attachment(picture), .bool(true)))
                let second = try await lost.makeNote("Bread", by: phone, at: 5)
                let board = UniqueID.random()
                try await lost.push(by: laptop, at: 6, [lost.client.object(board, type: "board", at: 6_000)])
                try await lost.set(second, (.text, .string("Bread, butter")), by: phone, at: 90)
                // Concurrent changes by other devices remain.
                try await lost.set(second, (.archived, .bool(true)), by: laptop, at: 200)
                let before = try await lost.everything()

                try await lost.set(
                    first, (.text, .string("Beer")), (.archived, .bool(true)), (.tag(paris), .bool(false)),
                    (.tag(rome), .bool(true)), (.sortDate, .date(Client.date(1))), by: phone, at: 210)
                try await lost.push(
                    by: phone, at: 211,
                    [
                        lost.client.set(first, .attachment(picture), .bool(false), at: 211_000, by: phone),
                        lost.client.set(second, .attachment(picture), .bool(true), at: 211_000, by: phone),
                    ])
                try await lost.set(paris, (.name, .string("London")), by: phone, at: 212)
                try await lost.push(
                    by: phone, at: 213,
                    [
                        lost.client.change(
                            board, .objects,
                            [Edit(.custom("size"), .integer(9), at: lost.client.clock(213_000, by: phone))])
                    ])
                let tag = try await lost.makeTag("Beer", by: phone, at: 214)
                let theirs = try await lost.makePicture(by: phone, at: 215)
                _ = try await lost.makeNote(
                    "Wine", by: phone, at: 216, (.tag(tag), .bool(true)), (.attachment(theirs), .bool(true)))
                try expect(try await lost.everything() != before)

                try await lost.revoke()
                try await lost.revoker().work()
                try expect(try await lost.everything(), is: before)
                let revocation = try await lost.revocation()
                try expect(revocation.counts, is: Revocation.Counts(putBack: 4, deleted: 3, older: 0, kept: 0))
                try expect(revocation.finishDate, is: Client.date(900_000))
            }),
        Case(
            "a finished revocation is not repeated and does not affect later changes",
            lost: { lost in
                let note = try await lost.makeNote("Milk", by: lost.laptop, at: 1)
                try await lost.set(note, (.text, .string("Beer")), by: lost.phone.node, at: 200)
                try await lost.revoke()
                try await lost.revoker().work()
                try await lost.set(note, (.archived, .bool(true)), by: lost.laptop, at: 300)
                let (head, known) = (try await lost.head(), try await lost.revocation())
                try await lost.revoker().work()
                try expect(try await lost.revoker().step(lost.phone.node, in: lost.scope), is: false)
                var again = known
                try expect(again.widen(to: Client.date(100_000)), is: false)
                try expect(again.widen(to: nil), is: false)
                // Even if it is restarted, there is nothing to do.
                again.moment = nil
                try expect(again.widen(to: Client.date(100_000)))
                let begun = again
                try await lost.put(begun)
                try await lost.revoker().work()
                try expect(try await lost.head(), is: head)
                try expect(try await lost.revocation().counts, is: known.counts)
            }),
        Case(
            "a revocation starts again with an earlier moment, but not with a later one",
            lost: { lost in
                let note = try await lost.makeNote("Milk", by: lost.laptop, at: 1)
                try await lost.set(note, (.archived, .bool(true)), by: lost.phone.node, at: 50)
                try await lost.set(note, (.text, .string("Beer")), by: lost.phone.node, at: 200)
                try await lost.revoke()
                try await lost.revoker().work()
                try expect(try await lost.client.note(note).archived)
                var revocation = try await lost.revocation()
                try expect(revocation.widen(to: Client.date(150_000)), is: false)
                try expect(revocation.widen(to: Client.date(20_000)), is: true)
                let wider = revocation
                try await lost.put(wider)
                try await lost.revoker().work()
                let after = try await lost.client.note(note)
                try expect(!after.archived && after.text == "Milk")
                try expect(try await lost.revocation().moment, is: Client.date(20_000))
            }),
        Case(
            "a revocation without a moment undoes nothing, but the device can no longer push",
            lost: { lost in
                let note = try await lost.makeNote("Milk", by: lost.laptop, at: 1)
                try await lost.set(note, (.text, .string("Beer")), by: lost.phone.node, at: 200)
                try await lost.revoke(since: nil)
                let head = try await lost.head()
                try expect(try await lost.client.read { try $0.openRevocations(limit: 9) }, is: [])
                try await lost.revoker().work()
                try expect(try await lost.head(), is: head)
                try await lost.expectRefusal { try await lost.set(note, (.text, .string("Wine")), by: $0, at: 300) }
                try expect(try await lost.head(), is: head)
                // Its edits are still accepted from other devices.
                let brought = try await lost.relay(note, "Wine", made: 250, at: 300)
                try expect(brought.receipts.map(\.status), is: [.applied])
            }),
        Case(
            "edits by the device after the moment are refused from all senders",
            lost: { lost in
                let note = try await lost.makeNote("Milk", by: lost.laptop, at: 1)
                try await lost.set(note, (.text, .string("Beer")), by: lost.phone.node, at: 200)
                try await lost.revoke()
                try await lost.expectRefusal { try await lost.set(note, (.text, .string("Wine")), by: $0, at: 300) }
                // An edit that is already stored.
                try expect(try await lost.relay(note, "Beer", made: 200, at: 300).receipts[0].status, is: .unchanged)
                let late = try await lost.relay(note, "Wine", made: 250, at: 300)
                try expect(late.receipts[0].fields["text"]?.problem?.slug, is: .deviceRevoked)
                try expect(try await lost.relay(note, "Milk, bread", made: 90, at: 301).receipts[0].status, is: .merged)
                try await lost.revoker().work()
                try expect(try await lost.client.note(note).text, is: "Milk, bread")
                // Nor is such a text accepted as the base of another text.
                let (clock, base) = (lost.client.clock(400_000), lost.client.clock(260_000, by: lost.phone.node))
                try await lost.push(
                    by: lost.laptop, at: 400,
                    [
                        .change(
                            Change(
                                uniqueID: note, section: .notes, edits: [Edit(.text, .string("Water"), at: clock)],
                                textBase: base, textBaseValue: "Wine"))
                    ])
                let texts = try await lost.client.history(note).flatMap(\.parcel.edits).compactMap(\.value)
                try expect(!texts.contains(.string("Wine")), "\(texts)")
            }),
        Case(
            "a tag and a picture of the lost device remain if others use them",
            lost: { lost in
                let (phone, laptop) = (lost.phone.node, lost.laptop)
                let note = try await lost.makeNote("Milk", by: laptop, at: 1)
                let tag = try await lost.makeTag("Rome", by: phone, at: 200)
                let picture = try await lost.makePicture(by: phone, at: 201)
                try await lost.set(
                    note, (.tag(tag), .bool(true)), (.attachment(picture), .bool(true)), by: laptop, at: 300)
                // A tag with a lower ID absorbs the laptop's tag. The laptop's note must not lose it.
                let older = try await lost.makeTag("Paris", UniqueID(high: 9, low: 9), by: laptop, at: 2)
                try await lost.set(note, (.tag(older), .bool(true)), by: laptop, at: 3)
                let taker = try await lost.makeTag("paris", UniqueID(high: 1, low: 1), by: phone, at: 202)
                let before = try await lost.everything()
                try await lost.revoke()
                try await lost.revoker().work()
                try expect(try await lost.everything(), is: before)
                try expect(
                    try await lost.revocation().counts, is: Revocation.Counts(putBack: 0, deleted: 0, older: 0, kept: 3)
                )
                // The merged tag is listed for the owner.
                let (scope, node) = (lost.scope, phone)
                let listed = try await lost.client.read {
                    try $0.deletions(by: node, after: Client.date(100_000), in: scope, before: nil, limit: 9).map(
                        \.deleted)
                }
                try expect(listed.map(\.uniqueID), is: [older])
                try expect(listed.map(\.mergedInto), is: [taker])
            }),
        Case(
            "a revocation continues after a crash, beside writers, and is not repeated by a second revoker",
            lost: { lost in
                let (phone, laptop) = (lost.phone.node, lost.laptop)
                let (client, count) = (lost.client, 260)
                let notes = (0..<count).map { _ in UniqueID.random() }
                try await lost.push(by: laptop, at: 1, notes.map { client.note($0, "Milk", at: 1_000) })
                try await lost.push(
                    by: phone, at: 200, notes.map { client.set($0, .text, .string("Beer"), at: 200_000, by: phone) })
                try await lost.revoke()
                // One batch. Only the store has its state.
                try expect(try await lost.revoker().step(phone, in: lost.scope))
                let half = try await lost.revocation()
                try expect(half.counts.putBack > 0 && half.counts.putBack < count && half.finishDate == nil, "\(half)")
                try expect(try await client.read { try $0.openRevocations(limit: 9) }, is: [half])
                // A note that has not been processed yet changes.
                try await lost.set(notes[count - 1], (.archived, .bool(true)), by: laptop, at: 300)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<2 { group.addTask { try await lost.revoker().work() } }
                    try await group.waitForAll()
                }
                for id in notes { try expect(try await client.note(id).text, is: "Milk") }
                try expect(try await client.note(notes[count - 1]).archived)
                try expect(try await lost.revocation().counts.putBack, is: count)
                // Each was restored once.
                for id in notes {
                    try expect(try await client.history(id).filter { $0.pushedAt == Client.date(900_000) }.count, is: 1)
                }
            }),
    ]
}

extension LostPhone {
    fileprivate func head() async throws -> ScopeHead {
        let scope = scope
        return try unwrap(try await client.read { try $0.head(of: scope) })
    }

    fileprivate func put(_ revocation: Revocation) async throws {
        try await client.store.write { transaction in
            _ = try transaction.lock(revocation.scope)
            try transaction.put(revocation)
        }
    }

    /// The laptop pushes a text that the phone created.
    fileprivate func relay(
        _ note: UniqueID, _ text: String, made: UInt64, at second: Int
    ) async throws -> Scope.PushResult {
        try await push(
            by: laptop, at: second,
            [client.set(note, .text, .string(text), at: made * 1_000, by: phone.node)])
    }

    /// Checks that a push of the phone is refused.
    fileprivate func expectRefusal(_ push: (NodeID) async throws -> Scope.PushResult) async throws {
        do {
            _ = try await push(phone.node)
        } catch let problem as Problem where problem.slug == .unauthenticated {
            return
        }
        try expect(false, "the push of the lost device was accepted")
    }
}
