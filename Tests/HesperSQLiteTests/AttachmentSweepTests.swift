import HesperModel
import HesperStore
import Testing

@testable import HesperSQLite

/// Attachments that nobody holds, and bytes that nobody knows (merge.md, Deleting; storage.md, The sweeper).
@Suite("Sweeping attachments")
struct AttachmentSweepTests {
    static let day = Timestamp.day

    private func hold(_ desk: SweepDesk, _ note: UniqueID, _ picture: UniqueID, _ isIn: Bool = true) -> Push.Element {
        desk.change(note, .notes, Edit(.attachment(picture), .bool(isIn), at: desk.clock()))
    }

    @Test("An attachment that no note has held for the grace period is deleted, with its bytes, for all devices")
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
        #expect(try await desk.head.sequence == sequence + 1, "devices are told")
        for _ in 0..<3 { try await desk.sweep(after: 31 * AttachmentSweepTests.day) }
        #expect(try await live() == [true, false, false])
        for (name, isThere) in zip(names, [true, false, false]) { #expect(await desk.blobs.has(name) == isThere) }
        #expect(try await desk.number("SELECT blob_bytes FROM scopes") == 3)
        #expect(try await desk.number("SELECT count(*) FROM edits") == 5, "those of the deleted are gone")
    }

    @Test("Deleting a note keeps its attachments for the grace period; another note may take them over")
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

    @Test("Bytes whose attachment never came go after a day; those that have one stay")
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

    @Test("While the blob store is away nothing is forgotten; once it is back, all goes")
    func away() async throws {
        let desk = try await SweepDesk()
        let picture = UniqueID.random()
        let name = try await desk.bytes(for: picture)
        try await desk.push(desk.picture(picture))
        try await desk.push(desk.delete(picture, .attachment))
        let sweeper = desk.sweeper()
        await desk.blobs.setAway(true)
        #expect(await !sweeper.sweep { desk.note($0) })
        #expect(desk.told.contains { $0.contains("the blobs are away") })
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 1)
        await desk.blobs.setAway(false)
        try await desk.sweep(with: sweeper)
        #expect(await !desk.blobs.has(name))
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 0)
    }

    @Test("The bytes of an erased account go")
    func account() async throws {
        let desk = try await SweepDesk()
        let name = try await desk.bytes(for: .random())
        try await desk.store.write { try $0.deleteAccount(desk.account.uniqueID) }
        _ = await desk.sweeper().sweep { desk.note($0) }
        #expect(await !desk.blobs.has(name))
        #expect(desk.told.isEmpty)
    }

    @Test("Uploads go a day after they began, row and file; files that no row knows an hour after they were noticed")
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
        #expect(await desk.stage.files == [old, stray], "nobody knows how old it is")
        try await begin(new)
        try await desk.sweep(after: 12 * Timestamp.hour + 1, with: sweeper)
        #expect(await desk.stage.files == [new])
        #expect(try await desk.number("SELECT count(*) FROM uploads") == 1)
        #expect(desk.told == ["strays(1)"])
    }

    @Test("Blobs that no row knows go; what is younger, or was put there by somebody else, stays")
    func strays() async throws {
        let desk = try await SweepDesk()
        let known = try await desk.bytes(for: .random())
        try await desk.push(desk.picture(known.attachment))
        let stray = BlobName(scope: desk.scope, attachment: .random())
        let again = BlobName(scope: desk.scope, attachment: known.attachment)
        let young = BlobName(scope: ScopeID(99), attachment: .random())
        await desk.blobs.put(stray, desk.now)
        await desk.blobs.put(again, desk.now)
        await desk.blobs.put(path: "1/readme.txt", desk.now)
        await desk.blobs.leaveUnfinished(2)
        desk.pass(2 * AttachmentSweepTests.day)
        await desk.blobs.put(young, desk.now)
        let sweeper = desk.sweeper()
        try await desk.sweep(with: sweeper)
        #expect(await desk.blobs.has(stray), "its row may be on its way")
        try await desk.sweep(after: Timestamp.hour, with: sweeper)
        #expect(await desk.blobs.names.keys.sorted() == [known.path, young.path, "1/readme.txt"].sorted())
        #expect(Set(desk.told) == ["unfinished(2)", "foreignFile(path: \"1/readme.txt\")", "strays(2)"])
        #expect(desk.told.count == 3)
    }

    @Test("Blobs stay where the database knows none of them, or where more than a hundred and a tenth are unknown")
    func unknown() async throws {
        let desk = try await SweepDesk()
        func putStrays(_ count: Int) async {
            for _ in 0..<count {
                await desk.blobs.put(BlobName(scope: desk.scope, attachment: .random()), desk.now)
            }
        }
        let sweeper = desk.sweeper()
        func sweepTwice() async throws {
            try await desk.sweep(after: 2 * AttachmentSweepTests.day, with: sweeper)
            try await desk.sweep(after: Timestamp.hour, with: sweeper)
        }
        await putStrays(2)
        try await sweepTwice()
        #expect(await desk.blobs.names.count == 2)
        let known = try await desk.bytes(for: .random())
        try await desk.push(desk.picture(known.attachment))
        let last = BlobName(scope: desk.scope, attachment: .random())
        await desk.blobs.put(last, desk.now)
        await putStrays(98)
        try await sweepTwice()
        #expect(await desk.blobs.names.count == 102)
        #expect(desk.told == ["unknownBlobs(2, of: 2)", "unknownBlobs(101, of: 102)"])
        try await desk.blobs.remove(last)
        try await sweepTwice()
        #expect(await desk.blobs.names.keys.sorted() == [known.path])
    }
}
