import HesperModel
import HesperStore

extension StoreContract {
    static let quotaCases: [Case] = [
        Case("counts the bytes of parcels as they come, are thinned and are purged") { (desk: Desk) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            try expect(try await desk.parcelBytes(), is: 0)
            try await desk.push(desk.note(note, "Grüße \u{1}", at: 1), desk.note(other, "1", at: 1))
            var bodies: Int64 = 0
            for id in [note, other] { bodies += try await desk.bodyBytes(of: id) }
            try expect(try await desk.parcelBytes(), is: bodies)
            try await desk.push(desk.set(note, .text, .string("2"), at: 2))
            let before = try await desk.parcelBytes()
            try await desk.push(desk.set(note, .text, .string("2"), at: 2))
            try expect(try await desk.parcelBytes(), is: before, "what is sent again")
            let sweep = try unwrap(try await desk.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await desk.edits(sweep).edits
            try await desk.store.write { for edit in edits { try $0.keep(edit, of: sweep) } }
            let text = edits[0].versions.filter { $0.attribute == .text }
            try await desk.store.write {
                try $0.drop(SweptEdit(position: edits[0].position, versions: text), of: sweep)
            }
            // The value and the comma before it.
            try expect(try await desk.parcelBytes(), is: before - Int64("\"Grüße \\u0001\",".utf8.count))
            try await desk.push(desk.delete(note))
            try expect(
                try await desk.parcelBytes(), is: before - Int64("\"Grüße \\u0001\",".utf8.count), "until it is purged")
            try await desk.store.write { for edit in edits { try $0.purge(editAt: edit.position, of: sweep) } }
            // What is gone is not counted twice.
            try await desk.store.write { for edit in edits { try $0.purge(editAt: edit.position, of: sweep) } }
            try expect(try await desk.parcelBytes(), is: try await desk.bodyBytes(of: other))
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("keeps a quota for each account") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "eve@example.com")
            try expect(try await desk.storage().quota, is: .standard)
            for quota in [Quota.bytes(5 << 40), .unlimited, .bytes(0), .standard] {
                try await desk.store.write { try $0.setQuota(quota, of: desk.scope) }
                try expect(try await desk.storage().quota, is: quota)
                try expect(try await desk.read { try $0.usage(of: desk.scope).storage.quota }, is: quota)
                try expect(try await desk.store.write { try $0.lock(desk.scope)?.storage.quota }, is: quota)
            }
            try expect(try await other.storage().quota, is: .standard)
        },
        Case("refuses what is over the quota, element by element, and takes it when there is room") { (desk: Desk) in
            let notes = (0..<3).map { _ in UniqueID.random() }
            let pushes = notes.map { desk.note($0, String(repeating: "a", count: 1_000), at: 1) }
            let first = try await desk.write(pushes, quota: 2_500)
            try expect(first.receipts.map { $0.problem?.slug }, is: [nil, nil, .quotaExceeded])
            try expect(try await desk.state(notes[2]), is: nil)
            let stored = try await desk.storage().bytes
            try expect((2_000...2_500).contains(stored), "\(stored)")
            // The answer was lost.
            let again = try await desk.write(pushes, quota: 2_500)
            try expect(again.receipts.map(\.status), is: [.unchanged, .unchanged, .rejected])
            // Deletions are taken, and count until they are purged.
            let dead = try await desk.write([desk.delete(notes[0])], quota: 2_500)
            try expect(dead.receipts.map(\.status), is: [.applied])
            try expect(try await desk.storage().bytes, is: stored)
            // Its own quota comes before the server's.
            try await desk.store.write { try $0.setQuota(.bytes(1 << 20), of: desk.scope) }
            try expect(try await desk.write([pushes[2]], quota: 2_500).receipts.map(\.status), is: [.applied])
            try await desk.store.write { try $0.setQuota(.bytes(1), of: desk.scope) }
            let longer = desk.set(notes[1], .text, .string(String(repeating: "b", count: 1_001)), at: 2)
            try expect(try await desk.write([longer], quota: nil).receipts.map(\.status), is: [.rejected])
            try await desk.store.write { try $0.setQuota(.unlimited, of: desk.scope) }
            try expect(try await desk.write([longer], quota: 1).receipts.map(\.status), is: [.applied])
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("pushes that share a transaction are judged one after the other") { (desk: Desk) in
            let queue = PushQueue(store: desk.store)
            let scope = Scope(desk.scope, queue: queue, installation: desk.store.installation, quota: 5_700) {
                Desk.now
            }
            let node = desk.device.node
            let statuses = try await withThrowingTaskGroup(of: Receipt.Status?.self) { tasks in
                for _ in 0..<20 {
                    let note = desk.note(.random(), String(repeating: "a", count: 1_000), at: 1)
                    tasks.addTask {
                        try await scope.write(by: node) { _, _, _ in Push([note]) }.receipts.first?.status
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            try expect(statuses.count { $0 == .applied }, is: 5)
            try expect(statuses.count { $0 == .rejected }, is: 15)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("an upload has its room, whatever is stored while it is under way; others find none") { (desk: Desk) in
            let upload = Upload(
                uniqueID: .random(), attachment: .random(), length: 600, sha256: nil, creationDate: Desk.now)
            try expect(try await desk.refusal(upload.attachment, 600), is: nil)
            try await desk.store.write { try $0.insert(upload, in: desk.scope) }
            try expect(try await desk.refusal(.random(), 401)?.context["used"], is: .integer(600))
            try await desk.push(desk.note(.random(), String(repeating: "a", count: 900), at: 1))
            try expect(try await desk.refusal(.random(), 1)?.slug, is: .quotaExceeded)
            try expect(try await desk.refusal(upload.attachment, 600, upload.uniqueID), is: nil)
            // It turned out longer than it was admitted with.
            try expect(try await desk.refusal(upload.attachment, 601, upload.uniqueID)?.slug, is: .quotaExceeded)
        },
        Case("a disabled account keeps its devices, but none is served and none listens") { (desk: Desk) in
            try await desk.push(desk.note(.random(), "1", at: 1))
            let id = desk.account.uniqueID
            func session() async throws -> Session? { try await desk.store.session(of: desk.token) }
            func listeners() async throws -> Set<NodeID>? {
                try await desk.read { try $0.scopeStatuses(of: [desk.scope])[desk.scope]?.devices }
            }
            try expect(try await session()?.isDisabled, is: false)
            try await desk.store.write { try $0.setDisabled(since: Desk.date(7), id) }
            try expect(try await session()?.isDisabled, is: true)
            try expect(try await desk.read { try $0.account(id)?.disabledSince }, is: Desk.date(7))
            try expect(try await desk.read { try $0.accounts().map(\.disabledSince) }, is: [Desk.date(7)])
            try expect(try await listeners(), is: [])
            try await desk.store.write { try $0.setDisabled(since: nil, id) }
            try expect(try await session()?.isDisabled, is: false)
            try expect(try await listeners(), is: [desk.device.node])
            try expect(try await desk.read { try $0.account(id) }, is: desk.account)
        },
    ]
}

extension Desk {
    fileprivate func storage() async throws -> Storage { try await read { try $0.storage(of: scope) } }

    /// The bytes of an object's parcels, as they are written.
    fileprivate func bodyBytes(of id: UniqueID) async throws -> Int64 {
        try await history(id).reduce(0) { $0 + Int64(ParcelBody.write($1.parcel.edits).count) }
    }

    fileprivate func write(_ elements: [Push.Element], quota: Int64?) async throws -> Scope.PushResult {
        let queue = PushQueue(store: store)
        return try await Scope(scope, queue: queue, installation: store.installation, quota: quota) { Desk.now }
            .write(by: device.node) { _, _, _ in Push(elements) }
    }
}

extension Desk {
    fileprivate func parcelBytes() async throws -> Int64 { try await storage().parcelBytes }

    /// Why bytes of an attachment are not admitted into 1,000; nil if they are.
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
