import HesperModel
import HesperStore

extension StoreContract {
    static let sweepCases: [Case] = [
        Case("what is recorded of the place of the bytes is there for whoever opens the database next") { subject in
            let store = try await subject.open()
            try expect(try await store.read { try $0.blobStoreRecord() }, is: BlobStoreRecord())
            let walk = BlobWalk(
                date: Desk.now, files: 12, bytes: 1 << 40, unknownFiles: 3, unknownBytes: 1 << 33)
            let record = BlobStoreRecord(currentNonce: .max, nextNonce: 0, walk: walk, acceptedUnknown: 2)
            try await store.write { try $0.set(record) }
            try expect(try await subject.open().read { try $0.blobStoreRecord() }, is: record)
            // Those who change it come one after the other.
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
        Case("it is empty before the first account, and after the last whose bytes are gone") { subject in
            let store = try await subject.open()
            try expect(try await store.read { try $0.isEmpty() }, is: true)
            let desk = try await Desk(on: store)
            try expect(try await store.read { try $0.isEmpty() }, is: false)
            let blob = Blob(
                name: BlobName(scope: desk.account.scope, attachment: .random()),
                data: AttachmentData(byteCount: 1, sha256: "ab"), arrivalDate: Desk.now)
            let other = BlobName(scope: blob.name.scope, attachment: blob.name.attachment)
            try await store.write { try $0.insert(blob) }
            try expect(try await store.read { try $0.isKnown(blob.name) }, is: true)
            try expect(try await store.read { try $0.isKnown(other) }, is: false)
            try await store.write { try $0.deleteAccount(desk.account.uniqueID) }
            try expect(try await store.read { try $0.isEmpty() }, is: false)
            try expect(try await store.read { try $0.isKnown(blob.name) }, is: true)
            try await store.write { try $0.forgetRemovedBlob(blob.name) }
            try expect(try await store.read { try $0.isEmpty() }, is: true)
            try expect(try await store.read { try $0.isKnown(blob.name) }, is: false)
        },
        Case("of a blob without a row the first sighting is kept, until it is forgotten") { subject in
            let store = try await subject.open()
            let names = [ScopeID(1), ScopeID(1), ScopeID(.max)].map { BlobName(scope: $0, attachment: .random()) }
            let again = BlobName(scope: names[0].scope, attachment: names[0].attachment)
            try await store.write { for name in names { try $0.recordUnknownBlob(name, seenAt: Desk.now) } }
            try await store.write { transaction in
                for name in names + [again] { try transaction.recordUnknownBlob(name, seenAt: Desk.date(9)) }
                try transaction.forgetUnknownBlob(names[1])
                try transaction.forgetUnknownBlob(BlobName(scope: ScopeID(7), attachment: .random()))
            }
            let kept = try await subject.open().read { try $0.unknownBlobs() }
            try expect(kept, is: [names[0]: Desk.now, names[2]: Desk.now, again: Desk.date(9)])
        },
        Case("an object is due an hour after it was first changed, not when it is made") { (desk: Desk) in
            let (note, quiet, dead) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(note, "1", at: 1), desk.note(quiet, "1", at: 1), desk.note(dead, "1", at: 1))
            try expect(try await desk.claim(after: 365 * Timestamp.day), is: [])
            try await desk.push(desk.set(note, .text, .string("2"), at: 2), desk.delete(dead))
            try expect(try await desk.claim(after: Timestamp.hour - 1), is: [])
            try expect(Set(try await desk.claim(after: Timestamp.hour).map(\.object)), is: [note, dead])
            try expect(try await desk.claim(after: Timestamp.hour), is: [], "taken by somebody else")
            // Whoever took them is never heard of again.
            try expect(try await desk.claim(after: 3 * Timestamp.hour).count, is: 2)
        },
        Case("an edit that changes nothing, and one of a deleted object, make it due as well") { (desk: Desk) in
            let (note, dead) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(note, "1", at: 5), desk.delete(dead))
            try expect(try await desk.claim(after: Timestamp.day).map(\.object), is: [])
            try await desk.push(desk.set(note, .archived, .bool(true), at: 5))
            try await desk.end(try await desk.claim(after: Timestamp.hour), next: nil)
            try await desk.push(desk.set(note, .archived, .bool(false), at: 4))
            try expect(try await desk.claim(after: Timestamp.hour).map(\.object), is: [note])
            try await desk.push(desk.set(dead, .text, .string("late"), at: 6))
            try expect(try await desk.claim(after: Timestamp.hour).map(\.object), is: [dead])
        },
        Case("a look ends with the next date, unless a change has set one meanwhile") { (desk: Desk) in
            let note = UniqueID.random()
            try await desk.push(desk.note(note, "1", at: 1))
            try await desk.push(desk.set(note, .text, .string("2"), at: 2))
            try await desk.end(try await desk.claim(after: Timestamp.hour), next: Desk.now.adding(9 * Timestamp.day))
            try expect(try await desk.claim(after: 9 * Timestamp.day - 1), is: [])
            let second = try await desk.claim(after: 9 * Timestamp.day)
            try expect(second.count, is: 1)
            // Changed while it is looked at: the end must not put that off, nor forget it.
            try await desk.push(desk.set(note, .text, .string("3"), at: 3))
            try await desk.end(second, next: Desk.now.adding(99 * Timestamp.day))
            let third = try await desk.claim(after: Timestamp.hour)
            try expect(third.map(\.object), is: [note])
            try await desk.push(desk.set(note, .text, .string("4"), at: 4))
            try await desk.store.write { transaction in for sweep in third { try transaction.forget(sweep) } }
            let fourth = try await desk.claim(after: Timestamp.hour)
            try expect(fourth.map(\.object), is: [note])
            try await desk.store.write { transaction in for sweep in fourth { try transaction.forget(sweep) } }
            try expect(try await desk.claim(after: 999 * Timestamp.day), is: [])
        },
        Case("edits are looked at once, in the order of arrival, and their values remembered") { (desk: Desk) in
            let note = UniqueID.random()
            try await desk.push(desk.note(note, "1", at: 1, (.archived, .bool(true))))
            for time in 2...5 as ClosedRange<UInt64> {
                try await desk.push(desk.set(note, .text, .string("\(time)"), at: time))
            }
            var sweep = try unwrap(try await desk.claim(after: Timestamp.hour).first, "the sweep")
            try expect(sweep.position, is: 0)
            let first = try await desk.edits(sweep, limit: 2)
            try expect(first.edits.count, is: 2)
            try expect(first.isAll, is: false)
            try expect(Set(first.edits[0].versions.map(\.attribute)), is: [.text, .archived])
            try expect(first.edits[1].versions.map(\.version.clock), is: [desk.clock(2)])
            try expect(first.edits[1].versions.map(\.version.pushedAt), is: [Desk.now])
            try await desk.store.write { [sweep] in for edit in first.edits { try $0.keep(edit, of: sweep) } }
            try expect(Set(try await desk.versions(note)), is: Set(first.edits.flatMap(\.versions)))
            try await desk.end([sweep], next: Desk.now)
            sweep = try unwrap(try await desk.claim(after: Timestamp.hour).first, "the sweep again")
            try expect(sweep.position, is: first.edits[1].position)
            let small = try await desk.edits(sweep, bytes: 1)
            try expect(small.edits.count, is: 1, "one is read, however large it is")
            let rest = try await desk.edits(sweep)
            try expect(rest.edits.count, is: 3)
            try expect(rest.isAll, is: true)
            try expect(rest.edits.map(\.position), is: rest.edits.map(\.position).sorted())
        },
        Case("a value that is dropped leaves its key, and all else of its edit") { (desk: Desk) in
            let note = UniqueID.random()
            try await desk.push(desk.note(note, "1", at: 1, (.custom("a"), .integer(1))))
            try await desk.push(desk.set(note, .text, .string("2"), at: 2))
            let sweep = try unwrap(try await desk.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await desk.edits(sweep).edits
            try await desk.store.write { for edit in edits { try $0.keep(edit, of: sweep) } }
            let text = edits[0].versions.filter { $0.attribute == .text }
            try await desk.store.write {
                try $0.drop(SweptEdit(position: edits[0].position, versions: text), of: sweep)
            }
            let history = try await desk.history(note)
            try expect(
                history[1].parcel.edits.map(\.value), is: [.date(Desk.date(1)), nil, .integer(1)])
            try expect(history[1].parcel.edits.map(\.clock), is: [nil, desk.clock(1), desk.clock(1)])
            try expect(history[0].parcel.edits.map(\.value), is: [.string("2")])
            try expect(try await desk.versions(note).count, is: 2)
            try expect(try await desk.edits(sweep).edits[0].versions.map(\.attribute), is: [.custom("a")])
            try expect(
                try await desk.bag { try $0.newestText(of: note, by: desk.device.node, before: desk.clock(2)) },
                is: desk.clock(1))
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("texts that lost words are marked, whether they stood or came") { (desk: Desk) in
            let (note, other) = (UniqueID.random(), NodeID(0xb))
            try await desk.push(desk.note(note, "a red car\n", at: 1))
            try await desk.push(desk.set(note, .text, .string("a blue car\n"), at: 3))
            let green = Change(
                uniqueID: note, section: .notes,
                edits: [Edit(.text, .string("a green car\n"), at: desk.clock(4, by: other))], textBase: desk.clock(1))
            try await desk.push(.change(green))
            let older = Change(
                uniqueID: note, section: .notes,
                edits: [Edit(.text, .string("a white car\n"), at: desk.clock(2, by: NodeID(0xc)))],
                textBase: desk.clock(1))
            try await desk.push(.change(older))
            try expect(try await desk.inconsistencies(), is: [], "the checksum of what was marked later")
            let sweep = try unwrap(try await desk.claim(after: Timestamp.hour).first, "the sweep")
            let edits = try await desk.edits(sweep).edits
            let lost = edits.flatMap(\.versions).filter(\.version.hasLostWords).map(\.version.clock)
            try expect(Set(lost), is: [desk.clock(3), desk.clock(2, by: NodeID(0xc))])
            try await desk.store.write { for edit in edits { try $0.keep(edit, of: sweep) } }
            try expect(
                Set(try await desk.versions(note).filter(\.version.hasLostWords).map(\.version.clock)), is: Set(lost))
        },
        Case("the edits of a deleted object are found by their arrival, and purged one by one") { (desk: Desk) in
            let (note, other) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(note, "1", at: 1), desk.note(other, "1", at: 1))
            try await desk.push(desk.set(note, .text, .string("2"), at: 2))
            try expect(try await desk.read { try $0.arrivalDate(ofDeleted: note, in: desk.scope) }, is: nil)
            try await desk.push(desk.delete(note, at: 1))
            try expect(try await desk.read { try $0.arrivalDate(ofDeleted: note, in: desk.scope) }, is: Desk.now)
            try expect(try await desk.read { try $0.firstArrival(of: note, in: desk.scope) }, is: Desk.now)
            func positions(_ date: Timestamp) async throws -> [Int64] {
                try await desk.read { try $0.positions(of: note, in: desk.scope, pushedUntil: date, limit: 9) }
            }
            try expect(try await positions(Desk.now.adding(-1)), is: [])
            let found = try await positions(Desk.now)
            try expect(found.count, is: 2)
            let sweep = try unwrap(
                try await desk.claim(after: Timestamp.hour).first { $0.object == note }, "the sweep")
            try await desk.store.write { for position in found { try $0.purge(editAt: position, of: sweep) } }
            try expect(try await positions(Desk.now), is: [])
            try expect(try await desk.history(other).count, is: 1)
            try expect(try await desk.read { try $0.firstArrival(of: note, in: desk.scope) }, is: nil)
            try expect(try await desk.inconsistencies(), is: [])
        },
        Case("knows since when nobody has held an attachment") { (desk: Desk) in
            let (note, second, picture) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
            func unheld() async throws -> Timestamp? {
                try await desk.read { try $0.unheldDate(of: picture, in: desk.scope) }
            }
            try await desk.bytesArrive(for: picture)
            try expect(try await unheld(), is: Desk.now)
            try await desk.push(
                desk.attachment(picture), desk.note(note, "1", at: 1, (.attachment(picture), .bool(true))))
            try expect(try await unheld(), is: nil)
            try await desk.push(
                desk.set(note, .attachment(picture), .bool(false), at: 2),
                desk.note(second, "1", at: 2, (.attachment(picture), .bool(true))))
            try expect(try await unheld(), is: nil)
            try await desk.push(desk.delete(second))
            try expect(try await unheld(), is: Desk.now)
        },
        Case("remembers blobs that are to be removed until they are") { (desk: Desk) in
            let (first, second) = (UniqueID.random(), UniqueID.random())
            for picture in [first, second] { try await desk.bytesArrive(for: picture) }
            let name = try unwrap(try await desk.blob(first)?.name)
            try await desk.store.write {
                try $0.removeBlob(of: first, in: desk.scope)
                try $0.removeBlob(of: .random(), in: desk.scope)
            }
            try expect(try await desk.read { try $0.removedBlobs(limit: 9) }, is: [name])
            let other = try unwrap(try await desk.blob(second)?.name)
            try await desk.store.write { try $0.deleteAccount(desk.account.uniqueID) }
            try expect(Set(try await desk.read { try $0.removedBlobs(limit: 9) }), is: [name, other])
            try await desk.store.write { try $0.forgetRemovedBlob(name) }
            try expect(try await desk.read { try $0.removedBlobs(limit: 9) }, is: [other])
        },
        Case("finds uploads by their age, and says whether anything is due") { (desk: Desk) in
            func isDue(_ date: Int64, _ uploads: Int64) async throws -> Bool {
                try await desk.read { try $0.hasSweeps(dueBy: Desk.date(date), uploadsBefore: Desk.date(uploads)) }
            }
            try expect(try await isDue(.max / 2, 99), is: false)
            for date in [7, 5] as [Int64] {
                let upload = Upload(
                    uniqueID: .random(), attachment: .random(), length: nil, sha256: nil, creationDate: Desk.date(date))
                try await desk.store.write { try $0.insert(upload, in: desk.scope) }
            }
            func dates(_ date: Int64) async throws -> [Timestamp] {
                try await desk.read { try $0.uploads(before: Desk.date(date), limit: 9).map(\.upload.creationDate) }
            }
            try expect(try await dates(5), is: [])
            try expect(try await dates(6), is: [Desk.date(5)])
            try expect(try await dates(8), is: [Desk.date(5), Desk.date(7)])
            try expect(try await isDue(0, 5), is: false)
            try expect(try await isDue(0, 6), is: true)
        },
        Case("tells where the devices of a scope are, that were used since") { (desk: Desk) in
            let other = try await Desk(on: desk.store, email: "eve@example.com")
            let node = desk.device.node
            func devices(_ since: Int64) async throws -> [Thinning.Device] {
                try await desk.read { try $0.devices(of: desk.scope, usedSince: Desk.date(since)) }
            }
            try expect(
                try await devices(0),
                is: [
                    Thinning.Device(
                        node: node, readSequence: nil, readDate: Desk.date(2), lastUseDate: Desk.date(2))
                ])
            func use(_ date: Int64, _ sequence: Int64?) async throws {
                try await desk.store.write {
                    try $0.recordUse(
                        of: node, at: Desk.date(date), appVersion: nil, userAgent: nil, address: nil,
                        readSequence: sequence)
                }
            }
            try await use(100, 7)
            // Used for something else since.
            try await use(200, nil)
            let expected = Thinning.Device(
                node: node, readSequence: 7, readDate: Desk.date(100), lastUseDate: Desk.date(200))
            try expect(try await devices(200), is: [expected])
            try expect(try await devices(201), is: [])
            try expect(try await desk.store.session(of: desk.token)?.device.readDate, is: Desk.date(100))
            try expect(try await desk.store.session(of: other.token)?.device.readDate, is: nil)
        },
        Case("a lease is one holder's until it ends or is given back") { (desk: Desk) in
            func take(_ holder: Int64, at date: Int64, until end: Int64) async throws -> Bool {
                try await desk.store.write {
                    try $0.takeLease("x", for: holder, at: Desk.date(date), until: Desk.date(end))
                }
            }
            try expect(try await take(1, at: 0, until: 10), is: true)
            try expect(try await take(2, at: 9, until: 20), is: false)
            try expect(try await take(1, at: 9, until: 20), is: true)
            try expect(try await take(2, at: 19, until: 30), is: false)
            try expect(try await take(2, at: 20, until: 30), is: true)
            try expect(try await take(1, at: 21, until: 40), is: false)
            try await desk.store.write { try $0.endLease("x", of: 1) }
            try expect(try await take(1, at: 21, until: 40), is: false)
            try await desk.store.write { try $0.endLease("x", of: 2) }
            try expect(try await take(1, at: 21, until: 40), is: true)
        },
    ]
}

extension Desk {
    /// Takes what is due so long after everything was pushed.
    func claim(after milliseconds: Int64) async throws -> [DueSweep] {
        let date = Desk.now.adding(milliseconds)
        return try await store.write {
            try $0.claimSweeps(dueBy: date, limit: 100, until: date.adding(2 * Timestamp.hour))
        }
    }

    func end(_ sweeps: [DueSweep], next: Timestamp?) async throws {
        try await store.write { transaction in for sweep in sweeps { try transaction.end(sweep, next: next) } }
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
