import HesperModel
import HesperStore

extension StoreContract {
    static let digestCases: [Case] = [
        Case("the scope's digest is updated by changes, deletions and merges of tags") { (client: Client) in
            let (note, paris, also) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            let steps: [[Push.Element]] = [
                [client.note(note, "Milk", at: 1), client.tag(paris, "Paris", at: 1)],
                [client.set(note, .archived, .bool(true), at: 2), client.set(note, .tag(paris), .bool(true), at: 2)],
                // Does not exist yet, so it is not part of the digest.
                [client.set(also, .text, .string("early"), at: 3)],
                [client.tag(.random(), "PARIS", at: 4)],
                [client.delete(note)],
                [client.delete(UniqueID.random(), .tag)],
            ]
            for step in steps {
                let head = try await client.push(step).head
                var digest = Digest.zero
                for row in try await client.digests() { digest ^= row.digest }
                try expect(head.digest, is: digest)
                try expect(try await client.read { try $0.head(of: client.scope) }, is: head)
            }
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("digests with an ID prefix are listed by ID") { (client: Client) in
            let ids = (0..<64).map { index in
                UniqueID(high: UInt64(index) << 58 | 0x4000, low: 0x8000_0000_0000_0000 | UInt64(index))
            }
            try await client.push(ids.map { client.note($0, "Milk", at: 1) })
            try await client.push(ids[10..<20].map { client.delete($0) })
            let all = try await client.digests()
            try expect(all.map(\.id), is: ids)
            try expect(all.map(\.type.name), is: ids.map { _ in "note" })
            for row in all { try expect(try await client.state(row.id)?.digest, is: row.digest) }
            for prefix in ["0", "a", "F", "08", "80000000000040008000000000000020", ids[7].description.hexDigits] {
                let found = try await client.digests(prefix: prefix)
                try expect(found, is: all.filter { $0.id.description.hexDigits.hasPrefix(prefix.lowercased()) }, prefix)
            }
            try expect(try await client.digests(prefix: ids[7].description.hexDigits).map(\.id), is: [ids[7]])
            for wrong in ["g", "-", "00000000000000000000000000000000f"] {
                try expect(try await client.digests(prefix: wrong), is: [], wrong)
            }
        },
    ]
}

struct DigestRow: Sendable, Equatable {
    let id: UniqueID
    let type: ObjectType
    let digest: Digest
}

extension Client {
    func digests(prefix: String = "") async throws -> [DigestRow] {
        try await store.read { snapshot in
            var found: [DigestRow] = []
            try snapshot.digests(in: scope, prefix: prefix) { found.append(DigestRow(id: $0, type: $1, digest: $2)) }
            return found
        }
    }
}

extension ObjectState {
    fileprivate var digest: Digest {
        switch self {
        case .entity(let entity, _): entity.digest
        case .deleted(let deleted, _): deleted.digest
        }
    }
}

extension String {
    fileprivate var hexDigits: String { filter { $0 != "-" } }
}
