import HesperModel
import HesperStore

extension StoreContract {
    static let historyCases: [Case] = [
        Case("the history lists every parcel with its device and date in pages, the most recent first") {
            (client: Client) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            try await client.push(client.note(note, "text 0", at: 1), client.note(other, "other", at: 1))
            // The clocks descend, but the order is that of arrival.
            for round in 1...9 {
                try await client.push(
                    client.set(note, .custom("round"), .integer(Int64(round)), at: UInt64(100 - round)),
                    client.set(other, .archived, .bool(true), at: UInt64(round + 1)))
            }
            let all = try await client.history(note)
            try expect(all.count, is: 10)
            try expect(all.map(\.pushedBy), is: all.map { _ in client.device.node })
            try expect(all.map(\.pushedAt), is: all.map { _ in Client.now })
            try expect(
                all.dropLast().map { $0.parcel.edits[0].value }, is: (1...9).reversed().map { .integer(Int64($0)) })
            try expect(Set(all.map(\.position)).count, is: 10)
            try expect(all.map(\.position), is: all.map(\.position).sorted(by: >))
            var paged: [StoredParcel] = []
            while paged.count < 20 {
                let page = try await client.history(note, before: paged.last?.position, limit: 3)
                if page.isEmpty { break }
                paged += page
            }
            try expect(paged, is: all)
            try expect(try await client.history(.random()), is: [])
        },
        Case("edits with all kinds of values are stored unchanged") { (client: Client) in
            let id = UniqueID.random()
            let clock = client.clock(7)
            let texts = [
                "", "\u{0}", "a\"b\\c/d\n\r\t\u{1f}\u{7f}", "e\u{301}", "\u{e9}", "\u{1F468}\u{200D}\u{1F469}",
                "\u{2028}\u{FEFF}",
            ]
            let numbers: [Value] = [
                .integer(0), .integer(-1), .integer((1 << 53) - 1), .integer(-(1 << 53) + 1), .number(0.1),
                .number(-1.5e-9),
                .number(1e300), .number(Double.leastNonzeroMagnitude), .number(.pi),
            ]
            let values = texts.map(Value.string) + numbers + [.null, .bool(true), .bool(false)]
            var parcel = Parcel(object: id, objectType: .note, edits: [])
            parcel.edits = values.enumerated().map { Edit(.custom("a\($0)"), $1, at: clock) }
            parcel.edits += [
                Edit(.creationDate, .date(Timestamp(clamping: .min)), at: nil), Edit(.text, .string("Milk"), at: clock),
                Edit(.archived, .bool(false), at: clock), Edit(.sortDate, .date(Timestamp(clamping: .max)), at: clock),
                Edit(.tag(.random()), .bool(true), at: clock), Edit(.attachment(.random()), .bool(false), at: clock),
                Edit(.name, .string("Paris"), at: clock), Edit(.mimeType, .string("image/png"), at: nil),
                Edit(.width, .integer(640), at: nil), Edit(.height, .integer(480), at: nil),
                Edit(.filename, .string("a.png"), at: nil), Edit(.byteCount, .integer(1 << 40), at: nil),
                Edit(.sha256, .string("ab"), at: nil), Edit(.preview, .string("AAAA"), at: nil),
                Edit(.objectType, .string("board"), at: nil),
                // A date and a string with the same text are different values.
                Edit(.custom("date"), .string(Client.date(5).description), at: clock),
                Edit(.custom("real"), .date(Client.date(5)), at: clock),
                // A thinned value, of which the attribute and the clock remain.
                Edit(.text, nil, at: client.clock(3)),
            ]
            var servers = Parcel(
                object: id, objectType: nil, edits: [Edit(.text, .string("Bread"), at: client.clock(9))])
            servers.textOrigin = client.clock(8)
            servers.isServerMade = true
            let parcels = [parcel, servers, Parcel(object: id, objectType: ObjectType("a.b-c_D9"), edits: [])]
            try await client.store.write { transaction in
                var outcome = MergeOutcome()
                outcome.parcels = parcels
                let locked = try unwrap(try transaction.lock(client.scope))
                _ = try transaction.append(outcome, to: locked, by: nil, at: Client.date(4))
            }
            let found = try await client.history(id)
            try expect(found.map(\.parcel), is: parcels.reversed())
            try expect(found.map(\.pushedBy), is: [nil, nil, nil])
            try expect(found[0].pushedAt, is: Client.date(4))
        },
    ]
}

extension Client {
    func history(_ id: UniqueID, before position: Int64? = nil, limit: Int = 100) async throws -> [StoredParcel] {
        try await store.read { try $0.history(of: id, in: scope, before: position, limit: limit) }
    }
}
