import HesperModel
import HesperStore

extension StoreContract {
    static let sweepCases: [Case] = [
        Case("the state of the blob store is stored and visible to other processes") { subject in
            let store = try await subject.open()
            try expect(try await store.read { try $0.blobStoreRecord() }, is: BlobStoreRecord())
            let walk = BlobWalk(
                date: Client.now, files: 12, bytes: 1 << 40, unknownFiles: 3, unknownBytes: 1 << 33)
            let record = BlobStoreRecord(currentNonce: .max, nextNonce: 0, walk: walk, acceptedUnknown: 2)
            try await store.write { try $0.set(record) }
            try expect(try await subject.open().read { try $0.blobStoreRecord() }, is: record)
            // Concurrent changes are serialized.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await store.write { transaction in
                            var record = try transaction.blobStoreRecord()
                            record.acceptedUnknown += 1
                            try transaction.set(record)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(try await store.read { try $0.blobStoreRecord().acceptedUnknown }, is: 10)
            try await store.write { try $0.set(BlobStoreRecord()) }
            try expect(try await store.read { try $0.blobStoreRecord() }, is: BlobStoreRecord())
        },
        Case("a store is empty without accounts and without blobs to be removed") { subject in
            let store = try await subject.open()
            try expect(try await store.read { try $0.isEmpty() }, is: true)
            let client = try await Client(on: store)
            try expect(try await store.read { try $0.isEmpty() }, is: false)
            let blob = Blob(
                name: BlobName(scope: client.account.scope, attachment: .random()),
                data: AttachmentData(byteCount: 1, sha256: "ab"), arrivalDate: Client.now)
            let other = BlobName(scope: blob.name.scope, attachment: blob.name.attachment)
            try await store.write { try $0.insert(blob) }
            try expect(try await store.read { try $0.isKnown(blob.name) }, is: true)
            try expect(try await store.read { try $0.isKnown(other) }, is: false)
            try await store.write { try $0.deleteAccount(client.account.uniqueID) }
            try expect(try await store.read { try $0.isEmpty() }, is: false)
            try expect(try await store.read { try $0.isKnown(blob.name) }, is: true)
            try await store.write { try $0.forgetRemovedBlob(blob.name) }
            try expect(try await store.read { try $0.isEmpty() }, is: true)
            try expect(try await store.read { try $0.isKnown(blob.name) }, is: false)
        },
        Case("the discovery date of an unknown blob does not change until its record is deleted") { subject in
            let store = try await subject.open()
            let names = [ScopeID(1), ScopeID(1), ScopeID(.max)].map { BlobName(scope: $0, attachment: .random()) }
            let again = BlobName(scope: names[0].scope, attachment: names[0].attachment)
            try await store.write { for name in names { try $0.recordUnknownBlob(name, seenAt: Client.now) } }
            try await store.write { transaction in
                for name in names + [again] { try transaction.recordUnknownBlob(name, seenAt: Client.date(9)) }
                try transaction.forgetUnknownBlob(names[1])
                try transaction.forgetUnknownBlob(BlobName(scope: ScopeID(7), attachment: .random()))
            }
            let stored = try await subject.open().read { try $0.unknownBlobs() }
            try expect(stored, is: [names[0]: Client.now, names[2]: Client.now, again: Client.date(9)])
        },
        Case("an object is due an hour after its first change, but not after its creation") { (client: Client) in
            let (note, quiet, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await client.push(
                client.note(note, "1", at: 1), client.note(quiet, "1", at: 1), client.note(deleted, "1", at: 1))
            try expect(try await client.claim(after: 365 * Timestamp.day), is: [])
            try await client.push(client.set(note, .text, .string("2"), at: 2), client.delete(deleted))
            try expect(try await client.claim(after: Timestamp.hour - 1), is: [])
            try expect(Set(try await client.claim(after: Timestamp.hour).map(\.object)), is: [note, deleted])
            try expect(try await client.claim(after: Timestamp.hour), is: [], "already claimed")
            // The claims have expired.
            try expect(try await client.claim(after: 3 * Timestamp.hour).count, is: 2)
        },
        Case("an edit without effect and an edit of a deleted object make the object due") { (client: Client) in
            let (note, deleted) = (UniqueID.random(), UniqueID.random())
            try await client.push(client.note(note, "1", at: 5), client.delete(deleted))
            try expect(try await client.claim(after: Timestamp.day).map(\.object), is: [])
            try await client.push(client.set(note, .archived, .bool(true), at: 5))
            try await client.reschedule(try await client.claim(after: Timestamp.hour), next: nil)
            try await client.push(client.set(note, .archived, .bool(false), at: 4))
            try expect(try await client.claim(after: Timestamp.hour).map(\.object), is: [note])
            try await client.push(client.set(deleted, .text, .string("late"), at: 6))
            try expect(try await client.claim(after: Timestamp.hour).map(\.object), is: [deleted])
        },
        Case("rescheduling an object does not postpone the date that a concurrent change has set") { (client: Client) in
            let note = UniqueID.random()
            try await client.push(client.note(note, "1", at: 1))
            try await client.push(client.set(note, .text, .string("2"), at: 2))
            try await client.reschedule(
                try await client.claim(after: Timestamp.hour), next: Client.now.adding(9 * Timestamp.day))
            try expect(try await client.claim(after: 9 * Timestamp.day - 1), is: [])
            let second = try await client.claim(after: 9 * Timestamp.day)
            try expect(second.count, is: 1)
            // The object changes during the examination. Its end must not postpone or delete the new date.
            try await client.push(client.set(note, .text, .string("3"), at: 3))
            try await client.reschedule(second, next: Client.now.adding(99 * Timestamp.day))
            let third = try await client.claim(after: Timestamp.hour)
            try expect(third.map(\.object), is: [note])
            try await client.push(client.set(note, .text, .string("4"), at: 4))
            try await client.store.write { transaction in for sweep in third { try transaction.finish(sweep) } }
            let fourth = try await client.claim(after: Timestamp.hour)
            try expect(fourth.map(\.object), is: [note])
            try await client.store.write { transaction in for sweep in fourth { try transaction.finish(sweep) } }
            try expect(try await client.claim(after: 999 * Timestamp.day), is: [])
        },
        Case("edits are examined once, in the order of arrival, and their values are recorded") { (client: Client) in
            let note = UniqueID.random()
            try await client.push(client.note(note, "1", at: 1, (.archived, .bool(true))))
            for time in 2...5 as ClosedRange<UInt64> {
                try await client.push(client.set(note, .text, .string("\(time)"), at: time))
            }
            var sweep = try unwrap(try await client.claim(after: Timestamp.hour).first, "the sweep")
            try expect(sweep.position, is: 0)
            let first = try await client.edits(sweep, limit: 2)
            try expect(first.edits.count, is: 2)
            try expect(first.isAll, is: false)
            try expect(Set(first.edits[0].versions.map(\.attribute)), is: [.text, .archived])
            try expect(first.edits[1].versions.map(\.version.clock), is: [client.clock(2)])
            try expect(first.edits[1].versions.map(\.version.pushedAt), is: [Client.now])
            try await client.store.write { [sweep] in for edit in first.edits { try $0.record(edit, of: sweep) } }
            try expect(Set(try await client.versions(note)), is: Set(first.edits.flatMap(\.versions)))
            try await client.reschedule([sweep], next: Client.now)
            sweep = try unwrap(try await client.claim(after: Timestamp.hour).first, "the sweep again")
            try expect(sweep.position, is: first.edits[1].position)
            let small = try await client.edits(sweep, bytes: 1)
            try expect(small.edits.count, is: 1, "at least one edit is read, regardless of its size")
            let rest = try await client.edits(sweep)
            try expect(rest.edits.count, is: 3)
            try expect(rest.isAll, is: true)
            try expect(rest.edits.map(\.position), is: rest.edits.map(\.position).sorted())
        },
        Case("dropping a value keeps its attribute and clock, and the rest of the edit") { (client: Client) in
            let note = UniqueID.random()
            try await client.push(client.note(note, "1", at: 1, (.custom("a"), .integer(1))))
            try await client.push(client.set(note, .text, .string("2"), at: 2))
            let sweep = try unwrap(try await client.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await client.edits(sweep).edits
            try await client.store.write { for edit in edits { try $0.record(edit, of: sweep) } }
            let text = edits[0].versions.filter { $0.attribute == .text }
            try await client.store.write {
                try $0.drop(SweptEdit(position: edits[0].position, versions: text), of: sweep)
            }
            let history = try await client.history(note)
            try expect(
                history[1].parcel.edits.map(\.value), is: [.date(Client.date(1)), nil, .integer(1)])
            try expect(history[1].parcel.edits.map(\.clock), is: [nil, client.clock(1), client.clock(1)])
            try expect(history[0].parcel.edits.map(\.value), is: [.string("2")])
            try expect(try await client.versions(note).count, is: 2)
            try expect(try await client.edits(sweep).edits[0].versions.map(\.attribute), is: [.custom("a")])
            try expect(
                try await client.bag {
                    try $0.newest(.text, of: note, by: client.device.node, before: client.clock(2))
                },
                is: client.clock(1))
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("texts that lost words are marked, both stored and new ones") { (client: Client) in
            let (note, other) = (UniqueID.random(), NodeID(0xb))
            try await client.push(client.note(note, "a red car\n", at: 1))
            try await client.push(client.set(note, .text, .string("a blue car\n"), at: 3))
            let green = Change(
                uniqueID: note, section: .notes,
                edits: [Edit(.text, .string("a green car\n"), at: client.clock(4, by: other))],
                textBase: client.clock(1))
            try await client.push(.change(green))
            let older = Change(
                uniqueID: note, section: .notes,
                edits: [Edit(.text, .string("a white car\n"), at: client.clock(2, by: NodeID(0xc)))],
                textBase: client.clock(1))
            try await client.push(.change(older))
            try expect(try await client.inconsistencies(), is: [], "the checksum of a text that was marked later")
            let sweep = try unwrap(try await client.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await client.edits(sweep).edits
            let lost = edits.flatMap(\.versions).filter(\.version.hasLostWords).map(\.version.clock)
            try expect(Set(lost), is: [client.clock(3), client.clock(2, by: NodeID(0xc))])
            try await client.store.write { for edit in edits { try $0.record(edit, of: sweep) } }
            try expect(
                Set(try await client.versions(note).filter(\.version.hasLostWords).map(\.version.clock)), is: Set(lost))
        },
        Case("edits of a deleted object are found by their arrival dates and purged individually") { (client: Client) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            try await client.push(client.note(note, "1", at: 1), client.note(other, "1", at: 1))
            try await client.push(client.set(note, .text, .string("2"), at: 2))
            try expect(try await client.read { try $0.arrivalDate(ofDeleted: note, in: client.scope) }, is: nil)
            try await client.push(client.delete(note, at: 1))
            try expect(try await client.read { try $0.arrivalDate(ofDeleted: note, in: client.scope) }, is: Client.now)
            try expect(try await client.read { try $0.firstArrival(of: note, in: client.scope) }, is: Client.now)
            func positions(_ date: Timestamp) async throws -> [Int64] {
                try await client.read { try $0.positions(of: note, in: client.scope, pushedUntil: date, limit: 9) }
            }
            try expect(try await positions(Client.now.adding(-1)), is: [])
            let found = try await positions(Client.now)
            try expect(found.count, is: 2)
            let sweep = try unwrap(
                try await client.claim(after: Timestamp.hour).first { $0.object == note }, "the sweep")
            try await client.store.write { for position in found { try $0.purge(editAt: position, of: sweep) } }
            try expect(try await positions(Client.now), is: [])
            try expect(try await client.history(other).count, is: 1)
            try expect(try await client.read { try $0.firstArrival(of: note, in: client.scope) }, is: nil)
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("the date since which no note holds an attachment is stored") { (client: Client) in
            let (note, second, picture) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            func unheld() async throws -> Timestamp? {
                try await client.read { try $0.unheldDate(of: picture, in: client.scope) }
            }
            try await client.bytesArrive(for: picture)
            try expect(try await unheld(), is: Client.now)
            try await client.push(
                client.attachment(picture), client.note(note, "1", at: 1, (.attachment(picture), .bool(true))))
            try expect(try await unheld(), is: nil)
            try await client.push(
                client.set(note, .attachment(picture), .bool(false), at: 2),
                client.note(second, "1", at: 2, (.attachment(picture), .bool(true))))
            try expect(try await unheld(), is: nil)
            try await client.push(client.delete(second))
            try expect(try await unheld(), is: Client.now)
        },
        Case("blobs to be removed are recorded until they have been removed") { (client: Client) in
            let (first, second) = (UniqueID.random(), UniqueID.random())
            for picture in [first, second] { try await client.bytesArrive(for: picture) }
            let name = try unwrap(try await client.blob(first)?.name)
            try await client.store.write {
                try $0.removeBlob(of: first, in: client.scope)
                try $0.removeBlob(of: .random(), in: client.scope)
            }
            try expect(try await client.read { try $0.removedBlobs(limit: 9) }, is: [name])
            let other = try unwrap(try await client.blob(second)?.name)
            try await client.store.write { try $0.deleteAccount(client.account.uniqueID) }
            try expect(Set(try await client.read { try $0.removedBlobs(limit: 9) }), is: [name, other])
            try await client.store.write { try $0.forgetRemovedBlob(name) }
            try expect(try await client.read { try $0.removedBlobs(limit: 9) }, is: [other])
        },
        Case("uploads are found by their age and make a sweep due") { (client: Client) in
            func isDue(_ date: Int64, _ uploads: Int64) async throws -> Bool {
                try await client.read {
                    try $0.hasSweeps(dueBy: Client.date(date), uploadsBefore: Client.date(uploads))
                }
            }
            try expect(try await isDue(.max / 2, 99), is: false)
            for date in [7, 5] as [Int64] {
                let upload = Upload(
                    uniqueID: .random(), attachment: .random(), length: nil, sha256: nil,
                    creationDate: Client.date(date))
                try await client.store.write { try $0.insert(upload, in: client.scope) }
            }
            func dates(_ date: Int64) async throws -> [Timestamp] {
                try await client.read { try $0.uploads(before: Client.date(date), limit: 9).map(\.upload.creationDate) }
            }
            try expect(try await dates(5), is: [])
            try expect(try await dates(6), is: [Client.date(5)])
            try expect(try await dates(8), is: [Client.date(5), Client.date(7)])
            try expect(try await isDue(0, 5), is: false)
            try expect(try await isDue(0, 6), is: true)
        },
        Case("the read positions of devices that were used since a date are listed") { (client: Client) in
            let other = try await Client(on: client.store, email: "eve@example.com")
            let node = client.device.node
            func devices(_ since: Int64) async throws -> [Thinning.Device] {
                try await client.read { try $0.devices(of: client.scope, usedSince: Client.date(since)) }
            }
            try expect(
                try await devices(0),
                is: [
                    Thinning.Device(
                        node: node, readSequence: nil, readDate: Client.date(2), lastUseDate: Client.date(2))
                ])
            func use(_ date: Int64, _ sequence: Int64?) async throws {
                try await client.store.write {
                    try $0.recordUse(
                        of: node, at: Client.date(date), appVersion: nil, userAgent: nil, address: nil,
                        readSequence: sequence)
                }
            }
            try await use(100, 7)
            // A later request that does not read notes.
            try await use(200, nil)
            let expected = Thinning.Device(
                node: node, readSequence: 7, readDate: Client.date(100), lastUseDate: Client.date(200))
            try expect(try await devices(200), is: [expected])
            try expect(try await devices(201), is: [])
            try expect(try await client.store.session(of: client.token)?.device.readDate, is: Client.date(100))
            try expect(try await client.store.session(of: other.token)?.device.readDate, is: nil)
        },
        Case("a lease has one holder until it expires or is released") { (client: Client) in
            func take(_ holder: Int64, at date: Int64, until end: Int64) async throws -> Bool {
                try await client.store.write {
                    try $0.takeLease("x", for: holder, at: Client.date(date), until: Client.date(end))
                }
            }
            try expect(try await take(1, at: 0, until: 10), is: true)
            try expect(try await take(2, at: 9, until: 20), is: false)
            try expect(try await take(1, at: 9, until: 20), is: true)
            try expect(try await take(2, at: 19, until: 30), is: false)
            try expect(try await take(2, at: 20, until: 30), is: true)
            try expect(try await take(1, at: 21, until: 40), is: false)
            try await client.store.write { try $0.endLease("x", of: 1) }
            try expect(try await take(1, at: 21, until: 40), is: false)
            try await client.store.write { try $0.endLease("x", of: 2) }
            try expect(try await take(1, at: 21, until: 40), is: true)
        },
    ]
}

extension Client {
    /// Claims the objects that are due at a time after all pushes, in milliseconds.
    func claim(after milliseconds: Int64) async throws -> [DueSweep] {
        let date = Client.now.adding(milliseconds)
        return try await store.write {
            try $0.claimSweeps(dueBy: date, limit: 100, until: date.adding(2 * Timestamp.hour))
        }
    }

    func reschedule(_ sweeps: [DueSweep], next: Timestamp?) async throws {
        try await store.write { transaction in for sweep in sweeps { try transaction.reschedule(sweep, next: next) } }
    }

    func edits(
        _ sweep: DueSweep, limit: Int = 100, bytes: Int = 1 << 20
    ) async throws -> (edits: [SweptEdit], isAll: Bool) {
        try await read {
            try $0.edits(of: sweep.object, in: sweep.scope, after: sweep.position, limit: limit, bytes: bytes)
        }
    }

    func versions(_ id: UniqueID) async throws -> [StoredVersion] {
        try await read { try $0.versions(of: id, in: scope) }
    }
}
