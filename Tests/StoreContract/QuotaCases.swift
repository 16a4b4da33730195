import HesperModel
import HesperStore

extension StoreContract {
    static let quotaCases: [Case] = [
        Case("the size of parcels is updated when they arrive, are thinned and are purged") { (client: Client) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            try expect(try await client.parcelBytes(), is: 0)
            try await client.push(client.note(note, "Grüße \u{1}", at: 1), client.note(other, "1", at: 1))
            var bodies: Int64 = 0
            for id in [note, other] { bodies += try await client.bodyBytes(of: id) }
            try expect(try await client.parcelBytes(), is: bodies)
            try await client.push(client.set(note, .text, .string("2"), at: 2))
            let before = try await client.parcelBytes()
            try await client.push(client.set(note, .text, .string("2"), at: 2))
            try expect(try await client.parcelBytes(), is: before, "after a repeated push")
            let sweep = try unwrap(try await client.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await client.edits(sweep).edits
            try await client.store.write { for edit in edits { try $0.record(edit, of: sweep) } }
            let text = edits[0].versions.filter { $0.attribute == .text }
            try await client.store.write {
                try $0.drop(SweptEdit(position: edits[0].position, versions: text), of: sweep)
            }
            // The value and the comma before it.
            try expect(try await client.parcelBytes(), is: before - Int64("\"Grüße \\u0001\",".utf8.count))
            try await client.push(client.delete(note))
            try expect(
                try await client.parcelBytes(), is: before - Int64("\"Grüße \\u0001\",".utf8.count),
                "until it is purged")
            try await client.store.write { for edit in edits { try $0.purge(editAt: edit.position, of: sweep) } }
            // Purging again changes nothing.
            try await client.store.write { for edit in edits { try $0.purge(editAt: edit.position, of: sweep) } }
            try expect(try await client.parcelBytes(), is: try await client.bodyBytes(of: other))
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("each account has its own quota") { (client: Client) in
            let other = try await Client(on: client.store, email: "eve@example.com")
            try expect(try await client.storage().quota, is: .standard)
            for quota in [Quota.bytes(5 << 40), .unlimited, .bytes(0), .standard] {
                try await client.store.write { try $0.setQuota(quota, of: client.scope) }
                try expect(try await client.storage().quota, is: quota)
                try expect(try await client.read { try $0.usage(of: client.scope).storage.quota }, is: quota)
                try expect(try await client.store.write { try $0.lock(client.scope)?.storage.quota }, is: quota)
            }
            try expect(try await other.storage().quota, is: .standard)
        },
        Case("elements over the quota are refused individually, and accepted with a larger quota") { (client: Client) in
            let notes = (0..<3).map { _ in UniqueID.random() }
            let pushes = notes.map { client.note($0, String(repeating: "a", count: 1_000), at: 1) }
            let first = try await client.write(pushes, quota: 2_500)
            try expect(first.receipts.map { $0.problem?.slug }, is: [nil, nil, .quotaExceeded])
            try expect(try await client.state(notes[2]), is: nil)
            let stored = try await client.storage().bytes
            try expect((2_000...2_500).contains(stored), "\(stored)")
            // The client repeats the push after a lost response.
            let again = try await client.write(pushes, quota: 2_500)
            try expect(again.receipts.map(\.status), is: [.unchanged, .unchanged, .rejected])
            // Deletions are accepted. The deleted note counts until it is purged.
            let deleted = try await client.write([client.delete(notes[0])], quota: 2_500)
            try expect(deleted.receipts.map(\.status), is: [.applied])
            try expect(try await client.storage().bytes, is: stored)
            // The account's own quota overrides the server's.
            try await client.store.write { try $0.setQuota(.bytes(1 << 20), of: client.scope) }
            try expect(try await client.write([pushes[2]], quota: 2_500).receipts.map(\.status), is: [.applied])
            try await client.store.write { try $0.setQuota(.bytes(1), of: client.scope) }
            let longer = client.set(notes[1], .text, .string(String(repeating: "b", count: 1_001)), at: 2)
            try expect(try await client.write([longer], quota: nil).receipts.map(\.status), is: [.rejected])
            try await client.store.write { try $0.setQuota(.unlimited, of: client.scope) }
            try expect(try await client.write([longer], quota: 1).receipts.map(\.status), is: [.applied])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the quota is applied to each push in a shared transaction") { (client: Client) in
            let queue = PushQueue(store: client.store)
            let scope = Scope(client.scope, queue: queue, installation: client.store.installation, quota: 5_700) {
                Client.now
            }
            let node = client.device.node
            let statuses = try await withThrowingTaskGroup(of: Receipt.Status?.self) { tasks in
                for _ in 0..<20 {
                    let note = client.note(.random(), String(repeating: "a", count: 1_000), at: 1)
                    tasks.addTask {
                        try await scope.write(by: node) { _, _, _ in Push([note]) }.receipts.first?.status
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            try expect(statuses.count { $0 == .applied }, is: 5)
            try expect(statuses.count { $0 == .rejected }, is: 15)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("an upload in progress reserves its space") { (client: Client) in
            let upload = Upload(
                uniqueID: .random(), attachment: .random(), length: 600, sha256: nil, creationDate: Client.now)
            try expect(try await client.refusal(upload.attachment, 600), is: nil)
            try await client.store.write { try $0.insert(upload, in: client.scope) }
            try expect(try await client.refusal(.random(), 401)?.context["used"], is: .integer(600))
            try await client.push(client.note(.random(), String(repeating: "a", count: 900), at: 1))
            try expect(try await client.refusal(.random(), 1)?.slug, is: .quotaExceeded)
            try expect(try await client.refusal(upload.attachment, 600, upload.uniqueID), is: nil)
            // It is longer than the length with which it was admitted.
            try expect(try await client.refusal(upload.attachment, 601, upload.uniqueID)?.slug, is: .quotaExceeded)
        },
        Case("a disabled account keeps its devices, but they have no access and cannot listen") { (client: Client) in
            try await client.push(client.note(.random(), "1", at: 1))
            let id = client.account.uniqueID
            func session() async throws -> Session? { try await client.store.session(of: client.token) }
            func listeners() async throws -> Set<NodeID>? {
                try await client.read { try $0.scopeStatuses(of: [client.scope])[client.scope]?.devices }
            }
            try expect(try await session()?.isDisabled, is: false)
            try await client.store.write { try $0.setDisabled(since: Client.date(7), id) }
            try expect(try await session()?.isDisabled, is: true)
            try expect(try await client.read { try $0.account(id)?.disabledSince }, is: Client.date(7))
            try expect(try await client.read { try $0.accounts().map(\.disabledSince) }, is: [Client.date(7)])
            try expect(try await listeners(), is: [])
            try await client.store.write { try $0.setDisabled(since: nil, id) }
            try expect(try await session()?.isDisabled, is: false)
            try expect(try await listeners(), is: [client.device.node])
            try expect(try await client.read { try $0.account(id) }, is: client.account)
        },
    ]
}

extension Client {
    fileprivate func storage() async throws -> Storage { try await read { try $0.storage(of: scope) } }

    /// The size of an object's parcels.
    fileprivate func bodyBytes(of id: UniqueID) async throws -> Int64 {
        try await history(id).reduce(0) { $0 + Int64(ParcelBody.write($1.parcel.edits).count) }
    }

    fileprivate func write(_ elements: [Push.Element], quota: Int64?) async throws -> Scope.PushResult {
        let queue = PushQueue(store: store)
        return try await Scope(scope, queue: queue, installation: store.installation, quota: quota) { Client.now }
            .write(by: device.node) { _, _, _ in Push(elements) }
    }
}

extension Client {
    fileprivate func parcelBytes() async throws -> Int64 { try await storage().parcelBytes }

    /// The reason why bytes of an attachment are refused with a quota of 1,000 bytes; nil if they are accepted.
    fileprivate func refusal(
        _ id: UniqueID, _ byteCount: Int64?, _ upload: UniqueID? = nil
    ) async throws -> Problem? {
        let admission = BlobAdmission(scope: scope, attachment: id, largest: 1_000, quota: 1_000)
        do {
            _ = try await read { try admission.check(byteCount: byteCount, upload: upload, in: $0) }
            return nil
        } catch let problem as Problem {
            return problem
        }
    }
}
