import HesperModel
import HesperStore
import Testing

@testable import HesperSQLite

/// Attachments that no note holds, and blobs without a row (merge.md, Deleting; storage.md, The sweeper).
@Suite("Sweeping attachments")
struct AttachmentSweepTests {
    static let day = Timestamp.day

    private func hold(_ desk: SweepDesk, _ note: UniqueID, _ picture: UniqueID, _ isIn: Bool = true) -> Push.Element {
        desk.change(note, .notes, Edit(.attachment(picture), .bool(isIn), at: desk.clock()))
    }

    @Test("An attachment that no note has held for the grace period is deleted on all devices, with its bytes")
    func unheld() async throws {
        let desk = try await SweepDesk()
        let (note, held, unheld, never) = (UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random())
        let names = try await [desk.bytes(for: held), desk.bytes(for: unheld), desk.bytes(for: never)]
        try await desk.push(
            desk.note(note, "x"), desk.picture(held), desk.picture(unheld), desk.picture(never),
            hold(desk, note, held), hold(desk, note, unheld))
        try await desk.sweep(after: 20 * AttachmentSweepTests.day)
        try await desk.push(hold(desk, note, unheld, false))
        try await desk.sweep(after: 11 * AttachmentSweepTests.day)
        func live() async throws -> [Bool] {
            var live: [Bool] = []
            for id in [held, unheld, never] {
                if case .entity? = try await desk.state(id) { live.append(true) } else { live.append(false) }
            }
            return live
        }
        #expect(try await live() == [true, true, false])
        let sequence = try await desk.head.sequence
        try await desk.sweep(after: 20 * AttachmentSweepTests.day)
        #expect(try await live() == [true, false, false])
        #expect(try await desk.head.sequence == sequence + 1, "devices receive the deletion")
        for _ in 0..<3 { try await desk.sweep(after: 31 * AttachmentSweepTests.day) }
        #expect(try await live() == [true, false, false])
        for (name, isThere) in zip(names, [true, false, false]) { #expect(await desk.blobs.has(name) == isThere) }
        #expect(try await desk.number("SELECT blob_bytes FROM scopes") == 3)
        #expect(try await desk.number("SELECT count(*) FROM edits") == 5, "edits of deleted objects are removed")
    }

    @Test("Attachments of a deleted note are kept for the grace period, and longer if another note holds them")
    func noteDeleted() async throws {
        let desk = try await SweepDesk()
        let (note, copy, kept, lost) = (UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random())
        let (keptName, lostName) = try await (desk.bytes(for: kept), desk.bytes(for: lost))
        try await desk.push(
            desk.note(note, "x"), desk.picture(kept), desk.picture(lost), hold(desk, note, kept),
            hold(desk, note, lost))
        desk.pass(AttachmentSweepTests.day)
        try await desk.push(desk.delete(note))
        try await desk.sweep(after: 29 * AttachmentSweepTests.day)
        #expect(await desk.blobs.has(lostName))
        try await desk.push(desk.note(copy, "x"), hold(desk, copy, kept))
        try await desk.sweep(after: 2 * AttachmentSweepTests.day)
        try await desk.sweep(after: 40 * AttachmentSweepTests.day)
        #expect(await desk.blobs.has(keptName))
        #expect(await !desk.blobs.has(lostName))
    }

    @Test(
        "Of two files that an app object got at once, the one with the smaller clock is removed after the grace period")
    func filesOfObject() async throws {
        let desk = try await SweepDesk()
        let (recipe, kept, lost) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let (keptName, lostName) = try await (desk.bytes(for: kept), desk.bytes(for: lost))
        func set(_ file: UniqueID, by node: NodeID) -> Push.Element {
            desk.change(recipe, .objects, Edit(.file("photo"), .string(file.description), at: desk.clock(by: node)))
        }
        try await desk.push(
            desk.picture(kept), desk.picture(lost),
            desk.change(recipe, .objects, Edit(.objectType, .string("recipe"), at: nil)))
        // At the same time, the greater node wins.
        try await desk.push(set(kept, by: NodeID(0xb)))
        try await desk.push(set(lost, by: NodeID(0xa)))
        try await desk.sweep(after: 29 * AttachmentSweepTests.day)
        #expect(await desk.blobs.has(keptName))
        #expect(await desk.blobs.has(lostName))
        try await desk.sweep(after: 2 * AttachmentSweepTests.day)
        #expect(await desk.blobs.has(keptName))
        #expect(await !desk.blobs.has(lostName))
        guard case .deleted? = try await desk.state(lost) else {
            Issue.record("the attachment that nothing holds is not deleted")
            return
        }
        // The deletion of the object lets go of the other one.
        try await desk.push(desk.delete(recipe, ObjectType("recipe") ?? .note))
        try await desk.sweep(after: 29 * AttachmentSweepTests.day)
        #expect(await desk.blobs.has(keptName))
        try await desk.sweep(after: 2 * AttachmentSweepTests.day)
        #expect(await !desk.blobs.has(keptName))
    }

    @Test("Bytes without an attachment are removed after a day, and bytes with one are kept")
    func withoutAttachment() async throws {
        let desk = try await SweepDesk()
        let (note, picture, stray) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let (name, strayName) = try await (desk.bytes(for: picture), desk.bytes(for: stray))
        try await desk.push(desk.note(note, "x"), desk.picture(picture), hold(desk, note, picture))
        try await desk.sweep(after: 23 * Timestamp.hour)
        #expect(await desk.blobs.has(strayName))
        try await desk.sweep(after: 2 * Timestamp.hour)
        #expect(await !desk.blobs.has(strayName))
        #expect(await desk.blobs.has(name))
        #expect(try await desk.number("SELECT blob_bytes FROM scopes") == 3)
        #expect(try await desk.number("SELECT count(*) FROM blobs") == 1)
        try await desk.sweep(after: AttachmentSweepTests.day)
        #expect(try await desk.number("SELECT count(*) FROM sweeps WHERE due_date IS NOT NULL") == 0)
    }

    @Test("Blobs that cannot be removed while the blob store is unavailable are removed later")
    func unavailable() async throws {
        let desk = try await SweepDesk()
        let picture = UniqueID.random()
        let name = try await desk.bytes(for: picture)
        try await desk.push(desk.picture(picture))
        try await desk.push(desk.delete(picture, .attachment))
        let sweeper = desk.sweeper()
        await desk.blobs.setUnavailable(true)
        #expect(await !sweeper.sweep { desk.note($0) })
        #expect(desk.messages.contains { $0.contains("the blob store is unavailable") })
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 1)
        await desk.blobs.setUnavailable(false)
        try await desk.sweep(with: sweeper)
        #expect(await !desk.blobs.has(name))
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 0)
    }

    @Test("The bytes of an erased account are removed")
    func account() async throws {
        let desk = try await SweepDesk()
        let name = try await desk.bytes(for: .random())
        try await desk.store.write { try $0.deleteAccount(desk.account.uniqueID) }
        _ = await desk.sweeper().sweep { desk.note($0) }
        #expect(await !desk.blobs.has(name))
        #expect(desk.messages.isEmpty)
    }

    @Test("Uploads are removed a day after they started, and files without a row an hour after they were first seen")
    func uploads() async throws {
        let desk = try await SweepDesk()
        let (old, new, stray) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        func begin(_ id: UniqueID) async throws {
            let upload = Upload(
                uniqueID: id, attachment: .random(), length: 9, sha256: nil, creationDate: desk.now)
            try await desk.stage.create(id)
            try await desk.store.write { try $0.insert(upload, in: desk.scope) }
        }
        let sweeper = desk.sweeper()
        try await begin(old)
        try await desk.stage.create(stray)
        try await desk.sweep(after: 12 * Timestamp.hour, with: sweeper)
        #expect(await desk.stage.files == [old, stray], "the age of the file is unknown")
        try await begin(new)
        try await desk.sweep(after: 12 * Timestamp.hour + 1, with: sweeper)
        #expect(await desk.stage.files == [new])
        #expect(try await desk.number("SELECT count(*) FROM uploads") == 1)
        #expect(desk.messages == ["strays(1)"])
    }

    @Test("Blobs without a row are removed 30 days after they were first seen; young blobs and foreign files are kept")
    func strays() async throws {
        let desk = try await SweepDesk()
        let (note, kept) = (UniqueID.random(), UniqueID.random())
        let known = try await desk.bytes(for: kept)
        try await desk.push(desk.note(note, "x"), desk.picture(kept), hold(desk, note, kept))
        let stray = BlobName(scope: desk.scope, attachment: .random())
        let again = BlobName(scope: desk.scope, attachment: known.attachment)
        let late = BlobName(scope: desk.scope, attachment: .random())
        let young = BlobName(scope: ScopeID(99), attachment: .random())
        for name in [stray, again, late] { await desk.blobs.put(name, desk.now) }
        await desk.blobs.put(path: "1/readme.txt", desk.now)
        await desk.blobs.leaveUnfinished(2)
        desk.pass(2 * AttachmentSweepTests.day)
        await desk.blobs.put(young, desk.now)
        let sweeper = desk.sweeper()
        try await desk.sweep(with: sweeper)
        #expect(try await desk.number("SELECT count(*) FROM unknown_blobs") == 3)
        #expect(try await desk.number("SELECT unknown_files FROM blob_store") == 3)
        // A blob that gets a row, or is removed by hand, is no longer listed.
        let blob = Blob(
            name: late, data: AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32)),
            arrivalDate: desk.now)
        try await desk.store.write { try $0.insert(blob) }
        try await desk.push(desk.picture(late.attachment), hold(desk, note, late.attachment))
        try await desk.sweep(after: AttachmentSweepTests.day, with: sweeper)
        #expect(try await desk.number("SELECT count(*) FROM unknown_blobs") == 2)
        // Another process continues, because the dates are in the database.
        let next = desk.sweeper()
        for _ in 0..<28 { try await desk.sweep(after: AttachmentSweepTests.day, with: next) }
        #expect(await desk.blobs.has(stray), "29 days after it was first seen")
        try await desk.sweep(after: AttachmentSweepTests.day, with: next)
        #expect(
            await desk.blobs.names.keys.sorted() == [known.path, late.path, young.path, "1/readme.txt"].sorted())
        #expect(try await desk.number("SELECT count(*) FROM unknown_blobs") == 1, "the young one")
        #expect(Set(desk.messages) == ["unfinished(2)", "foreignFile(path: \"1/readme.txt\")", "strays(2)"])
    }

    @Test("No bytes are removed if the database knows none of them, or more than 100 and a tenth of them are unknown")
    func unknown() async throws {
        let desk = try await SweepDesk()
        func putStrays(_ count: Int) async {
            for _ in 0..<count {
                await desk.blobs.put(BlobName(scope: desk.scope, attachment: .random()), desk.now)
            }
        }
        func sweepFor(_ days: Int) async throws {
            for _ in 0..<days { try await desk.sweep(after: AttachmentSweepTests.day) }
        }
        await putStrays(2)
        try await sweepFor(40)
        #expect(await desk.blobs.names.count == 2, "the database knows none")
        let (note, held, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let known = try await (desk.bytes(for: held), desk.bytes(for: deleted))
        try await desk.push(
            desk.note(note, "x"), desk.picture(held), desk.picture(deleted), hold(desk, note, held),
            hold(desk, note, deleted))
        let last = BlobName(scope: desk.scope, attachment: .random())
        await desk.blobs.put(last, desk.now)
        await putStrays(98)
        try await sweepFor(2)
        // Bytes of deleted attachments are kept as well: the database may be older than the bytes.
        try await desk.push(desk.delete(deleted, .attachment))
        try await sweepFor(40)
        #expect(await desk.blobs.names.count == 103)
        #expect(await desk.blobs.has(known.1))
        #expect(desk.messages.contains { $0.contains("101 of 103 files of attachments") })
        try await desk.blobs.remove(last)
        try await sweepFor(2)
        let left = await desk.blobs.names.keys.sorted()
        #expect(left == [known.0.path])
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 0)
    }

    @Test("Unknown blobs that an operator accepted are removed after 30 days, however many they are")
    func accepted() async throws {
        let desk = try await SweepDesk()
        for _ in 0..<200 { await desk.blobs.put(BlobName(scope: desk.scope, attachment: .random()), desk.now) }
        for _ in 0..<3 { try await desk.sweep(after: AttachmentSweepTests.day) }
        #expect(desk.messages.contains { $0.contains("200 of 200 files of attachments") })
        try await BlobClaim(store: desk.store, blobs: desk.blobs).adopt(acceptingUnknown: 200)
        #expect(try await desk.number("SELECT count(*) FROM unknown_blobs") == 0, "the 30 days start again")
        for _ in 0..<30 { try await desk.sweep(after: AttachmentSweepTests.day) }
        #expect(await desk.blobs.names.count == 200)
        for _ in 0..<2 { try await desk.sweep(after: AttachmentSweepTests.day) }
        #expect(await desk.blobs.names.isEmpty)
        try await desk.sweep(after: AttachmentSweepTests.day)
        #expect(try await desk.number("SELECT accepted_unknown FROM blob_store") == 0)
    }

    @Test("A limited number of unknown blobs is recorded, and the others after these are removed")
    func bounded() async throws {
        let (desk, more) = (try await SweepDesk(), 50)
        for _ in 0..<Sweep.unknownLimit + more {
            await desk.blobs.put(BlobName(scope: desk.scope, attachment: .random()), desk.now)
        }
        try await BlobClaim(store: desk.store, blobs: desk.blobs).adopt(acceptingUnknown: 2 * Sweep.unknownLimit)
        desk.pass(AttachmentSweepTests.day)
        for _ in 0..<2 { try await desk.sweep(after: AttachmentSweepTests.day) }
        #expect(try await desk.number("SELECT count(*) FROM unknown_blobs") == Int64(Sweep.unknownLimit))
        #expect(try await desk.number("SELECT unknown_files FROM blob_store") == Int64(Sweep.unknownLimit + more))
        for _ in 0..<2 { try await desk.sweep(after: 30 * AttachmentSweepTests.day) }
        #expect(await desk.blobs.names.count == more)
        try await desk.sweep(after: AttachmentSweepTests.day)
        #expect(try await desk.number("SELECT count(*) FROM unknown_blobs") == Int64(more))
    }
}
