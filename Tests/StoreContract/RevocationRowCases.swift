import HesperModel
import HesperStore

extension StoreContract {
    /// Queries about revoked devices and their changes.
    static let revocationRowCases: [Case] = [
        Case(
            "deletions by the device after the moment are listed in pages, the most recent first",
            lost: { lost in
                let (phone, laptop) = (lost.phone.node, lost.laptop)
                var notes: [UniqueID] = []
                for second in 1...6 { notes.append(try await lost.makeNote("Milk", by: laptop, at: second)) }
                try await lost.push(by: phone, at: 50, [lost.client.delete(notes[0])])
                try await lost.push(by: laptop, at: 199, [lost.client.delete(notes[1])])
                for index in 2...5 {
                    try await lost.push(by: phone, at: 200 + index, [lost.client.delete(notes[index])])
                }
                try await lost.revoke()
                try await lost.revoker().work()
                let scope = lost.scope
                func page(before: Int64?, limit: Int) async throws -> [(id: UniqueID, sequence: Int64)] {
                    try await lost.client.read {
                        try $0.deletions(
                            by: phone, after: Client.date(100_000), in: scope, before: before, limit: limit
                        )
                        .map { ($0.deleted.uniqueID, $0.sequence) }
                    }
                }
                let first = try await page(before: nil, limit: 3)
                try expect(first.map(\.id), is: [notes[5], notes[4], notes[3]])
                try expect(try await page(before: first.last?.sequence, limit: 3).map(\.id), is: [notes[2]])
                // Deletions are not undone.
                try expect(try await lost.everything(), is: [:])
            }),
        Case(
            "changes of a device are found, whether it is signed in or not",
            lost: { lost in
                let other = try await LostPhone(of: Client(on: lost.client.store, email: "bob@example.com"))
                let (phone, scope, theirs) = (lost.phone.node, lost.scope, other.scope)
                func hasTrace(of node: NodeID) async throws -> Bool {
                    try await lost.client.read { try $0.hasTrace(of: node, in: scope) }
                }
                let note = try await lost.makeNote("Milk", by: lost.laptop, at: 1)
                try expect(try await hasTrace(of: phone), is: false)
                try await lost.set(note, (.text, .string("Beer")), by: phone, at: 200)
                try expect(try await hasTrace(of: phone))
                try expect(try await lost.client.read { try $0.hasTrace(of: phone, in: theirs) }, is: false)
                // A device may have only deletions.
                let third = NodeID.random()
                try await lost.push(by: third, at: 201, [lost.client.delete(note)])
                try expect(try await hasTrace(of: third))
                let account = lost.client.account.uniqueID
                _ = try await lost.client.store.write { try $0.deleteDevice(phone, of: account) }
                try expect(try await hasTrace(of: phone))
                try expect(try await hasTrace(of: .random()), is: false)
            }),
        Case(
            "revocations belong to one account and are deleted with it",
            lost: { lost in
                let other = try await LostPhone(of: Client(on: lost.client.store, email: "bob@example.com"))
                let (scope, theirs, node) = (lost.scope, other.scope, lost.phone.node)
                let put = try await lost.revoke()
                let nodes = Set([node, lost.laptop, .random()])
                try expect(try await lost.client.read { try $0.revocations(of: nodes, in: scope) }, is: [put])
                try expect(try await lost.client.read { try $0.revocations(of: [lost.laptop], in: scope) }, is: [])
                try expect(try await lost.client.read { try $0.revocations(of: nodes, in: theirs) }, is: [])
                try expect(try await lost.client.read { try $0.revocation(of: node, in: theirs) }, is: nil)
                let second = try await other.revoke()
                try expect(
                    try await lost.client.read { try $0.openRevocations(limit: 9) },
                    is: [put, second].sorted { $0.scope < $1.scope })
                try expect(try await lost.client.read { try $0.openRevocations(limit: 1) }.count, is: 1)
                // The node is not revoked in another account.
                try await other.makeNote("Milk", by: node, at: 1)
                let account = other.client.account.uniqueID
                try await lost.client.store.write { try $0.deleteAccount(account) }
                try expect(try await lost.client.read { try $0.openRevocations(limit: 9) }, is: [put])
                try await lost.revoker().work()
                try expect(try await lost.revocation().finishDate != nil)
            }),
    ]
}
