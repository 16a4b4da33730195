import Foundation
import HesperModel
import HesperStore
import Testing

@testable import HesperSQLite

/// Bytes are removed by the database that they belong to, and by no copy of it (storage.md, The marker).
@Suite("The marker beside the attachments")
struct MarkerTests {
    private func marker(_ desk: SweepDesk) async throws -> BlobMarker {
        try #require(try await desk.blobs.marker().flatMap(BlobMarker.init))
    }

    private func record(_ desk: SweepDesk) async throws -> BlobStoreRecord {
        try await desk.store.read { try $0.blobStoreRecord() }
    }

    private func blocker(_ desk: SweepDesk) async throws -> RemovalBlocker? {
        try await BlobClaim(store: desk.store, blobs: desk.blobs).removalBlocker()
    }

    /// An attachment that is known, and one whose bytes are to go.
    private func fill(_ desk: SweepDesk) async throws -> (kept: BlobName, deleted: BlobName) {
        let (note, kept, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let names = try await (desk.bytes(for: kept), desk.bytes(for: deleted))
        try await desk.push(
            desk.note(note, "x"), desk.picture(kept), desk.picture(deleted),
            desk.change(note, .notes, Edit(.attachment(kept), .bool(true), at: desk.clock())))
        try await desk.push(desk.delete(deleted, .attachment))
        return names
    }

    /// What `cp` makes of the database at this moment, with the same bytes beside it.
    private func copy(_ desk: SweepDesk) async throws -> SQLiteStore {
        let url = desk.folder.url.appending(path: "copy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try await desk.store.copy(to: url.appending(path: SQLiteStore.fileName).path)
        return try SQLiteStore(folder: url)
    }

    private func sweeper(_ desk: SweepDesk, on store: SQLiteStore) -> Sweeper {
        Sweeper(
            store: store, queue: PushQueue(store: store), blobs: desk.blobs, stage: MemoryStage(),
            policy: SweepPolicy(), now: { desk.now }, throttle: WriterThrottle(rest: { _ in }))
    }

    @Test("The first sweep writes it, and every hour another nonce")
    func renewal() async throws {
        let desk = try await SweepDesk()
        let names = try await fill(desk)
        try await desk.sweep()
        #expect(await !desk.blobs.has(names.deleted), "nobody else can know the first nonce")
        var nonces: [UInt64] = []
        for _ in 0..<3 {
            let marker = try await marker(desk)
            #expect(marker.installation == desk.store.installation.node)
            #expect(!marker.isContested)
            #expect(try await record(desk).currentNonce == marker.nonce)
            #expect(try await record(desk).nextNonce == nil)
            nonces.append(marker.nonce)
            try await desk.sweep(after: Timestamp.hour - 1)
            #expect(try await self.marker(desk).nonce == marker.nonce)
            try await desk.sweep(after: 1)
        }
        #expect(Set(nonces).count == 3)
        #expect(desk.told.isEmpty)
    }

    @Test("A database of before, with bytes that it knows and no marker, writes one and says nothing")
    func upgrade() async throws {
        let desk = try await SweepDesk()
        _ = try await fill(desk)
        #expect(try await blocker(desk) == .unmarked)
        try await desk.sweep()
        #expect(try await blocker(desk) == nil)
        #expect(desk.told.isEmpty)
    }

    @Test("A crash between any two steps of a renewal leaves a marker that the database knows")
    func crashes() async throws {
        let desk = try await SweepDesk()
        _ = try await fill(desk)
        let claim = BlobClaim(store: desk.store, blobs: desk.blobs)
        // Before there is a marker: the nonce is committed, and nothing is in place.
        try await desk.store.write { try $0.set(BlobStoreRecord(nextNonce: 7)) }
        #expect(try await claim.removalBlocker() == .unmarked)
        #expect(try await claim.renew() == nil)
        #expect(try await marker(desk).nonce == 7)
        // The next one is committed, and the old marker is in place; then the new marker, and the old nonce is current.
        try await desk.store.write { try $0.set(BlobStoreRecord(currentNonce: 7, nextNonce: 8)) }
        #expect(try await claim.removalBlocker() == nil)
        let next = BlobMarker(installation: desk.store.installation.node, nonce: 8)
        await desk.blobs.replaceMarker(next.bytes)
        #expect(try await claim.removalBlocker() == nil)
        // A renewal that breaks off once more, right after its first commit, has not forgotten the marker that is in place.
        await desk.blobs.setReadOnly(true)
        await #expect(throws: StoreError.self) { _ = try await claim.renew() }
        #expect(try await record(desk).currentNonce == 8)
        #expect(try await claim.removalBlocker() == nil)
        let waiting = try await record(desk).nextNonce
        await desk.blobs.setReadOnly(false)
        #expect(try await claim.renew() == nil)
        #expect(try await marker(desk).nonce == waiting, "the same, if it was written after all")
        #expect(try await record(desk) == BlobStoreRecord(currentNonce: waiting))
    }

    @Test("Two processes that renew or adopt at once come to one nonce")
    func together() async throws {
        let desk = try await SweepDesk()
        let claim = BlobClaim(store: desk.store, blobs: desk.blobs)
        for round in 0..<40 {
            async let first = claim.renew()
            if round.isMultiple(of: 2) {
                _ = try await claim.renew()
            } else {
                try await claim.adopt(acceptingUnknown: 0)
            }
            _ = try await first
            #expect(try await blocker(desk) == nil)
        }
    }

    @Test("A copy that is served beside the database: nobody removes anything, until one adopts the bytes")
    func copied() async throws {
        let desk = try await SweepDesk()
        try await desk.sweep()
        let names = try await fill(desk)
        let copy = try await copy(desk)
        // In the copy somebody deletes the account: its nonce is still good, and its server has just started.
        try await copy.write { try $0.deleteAccount(desk.account.uniqueID) }
        let other = sweeper(desk, on: copy)
        func sweepBoth(after milliseconds: Int64) async throws {
            _ = await other.sweep { desk.note($0) }
            try await desk.sweep(after: milliseconds)
        }
        // The copy has the lease, too: so long its server does not sweep.
        for _ in 0..<10 { try await sweepBoth(after: 60_000) }
        #expect(try await blocker(desk) == .contested)
        #expect(desk.told.contains { $0.contains("was written by another copy of this database") })
        var left = await desk.blobs.names.keys.sorted()
        #expect(left == [names.kept.path], "\(names) \(desk.told)")
        let late = try await desk.bytes(for: .random())
        for _ in 0..<3 { try await sweepBoth(after: 20 * Timestamp.day) }
        left = await desk.blobs.names.keys.sorted()
        #expect(left == [names.kept.path, late.path].sorted(), "known removals stay, too")
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 1)
        try copy.close()
        try await BlobClaim(store: desk.store, blobs: desk.blobs).adopt(acceptingUnknown: 0)
        try await desk.sweep(after: 60_000)
        #expect(await desk.blobs.has(late), "another server has a while to object")
        try await desk.sweep(after: Sweep.settling)
        left = await desk.blobs.names.keys.sorted()
        #expect(left == [names.kept.path])
        #expect(desk.told.last == "removalResumed")
    }

    @Test("An old copy that finds a later nonce removes nothing, and has nobody remove anything")
    func oldCopy() async throws {
        let desk = try await SweepDesk()
        _ = try await fill(desk)
        try await desk.sweep()
        let old = try await copy(desk)
        try await desk.sweep(after: Timestamp.hour)
        let later = try await desk.bytes(for: .random())
        _ = await sweeper(desk, on: old).sweep { desk.note($0) }
        #expect(try await blocker(desk) == .contested)
        for _ in 0..<40 { try await desk.sweep(after: Timestamp.day) }
        #expect(await desk.blobs.has(later))
        try old.close()
    }

    @Test("What another database wrote after a look is noticed before the next batch")
    func everyBatch() async throws {
        let desk = try await SweepDesk()
        try await desk.sweep()
        let names = try await fill(desk)
        await desk.blobs.replaceMarker(BlobMarker(installation: desk.store.installation.node, nonce: 1).bytes)
        try await desk.sweep()
        #expect(await desk.blobs.has(names.deleted))
        #expect(try await marker(desk).isContested)
    }

    @Test("Bytes of another installation are left alone, and so is what its server deletes")
    func otherInstallation() async throws {
        let desk = try await SweepDesk()
        let names = try await fill(desk)
        let other = NodeID(77)
        await desk.blobs.replaceMarker(BlobMarker(installation: other, nonce: 1).bytes)
        for _ in 0..<40 { try await desk.sweep(after: Timestamp.day) }
        #expect(await desk.blobs.has(names.deleted))
        #expect(try await marker(desk) == BlobMarker(installation: other, nonce: 1, isContested: true))
        #expect(RemovalBlocker.otherInstallation(other).forbidsServing)
    }

    @Test("Bytes beside an empty database are nobody's to remove")
    func lostDatabase() async throws {
        let desk = try await SweepDesk()
        try await desk.store.write { try $0.deleteAccount(desk.account.uniqueID) }
        _ = await desk.sweeper().sweep { desk.note($0) }
        #expect(try await blocker(desk) == nil, "an empty database beside nothing has its marker")
        await desk.blobs.replaceMarker(nil)
        try await desk.store.write { try $0.set(BlobStoreRecord()) }
        await desk.blobs.put(BlobName(scope: ScopeID(1), attachment: .random()), desk.now)
        #expect(try await blocker(desk) == .lostDatabase)
        for _ in 0..<40 { _ = await desk.sweeper().sweep { desk.note($0) } }
        #expect(await desk.blobs.names.count == 1)
        #expect(try await desk.blobs.marker() == nil, "nothing is claimed")
        #expect(desk.told.contains { $0.contains("the database is empty") })
    }

    @Test(
        "A marker that is missing or damaged keeps all bytes, and is not written over",
        arguments: [[], Array("{\"format\": \"hesper-attachments\", \"formatVersion\": 2}".utf8), nil] as [[UInt8]?])
    func unreadable(_ bytes: [UInt8]?) async throws {
        let desk = try await SweepDesk()
        try await desk.sweep()
        let names = try await fill(desk)
        await desk.blobs.replaceMarker(bytes)
        for _ in 0..<3 { try await desk.sweep(after: Timestamp.hour) }
        #expect(await desk.blobs.has(names.deleted))
        #expect(try await desk.blobs.marker() == bytes)
        #expect(try await blocker(desk) == (bytes == nil ? .missing : .damaged))
        #expect(desk.told.count == 3, "once an hour: \(desk.told)")
    }

    @Test("While the marker cannot be renewed nothing is removed; then all goes on")
    func readOnly() async throws {
        let desk = try await SweepDesk()
        try await desk.sweep()
        let names = try await fill(desk)
        await desk.blobs.setReadOnly(true)
        desk.pass(2 * Timestamp.hour)
        let sweeper = desk.sweeper()
        #expect(await !sweeper.sweep { desk.note($0) })
        desk.pass(Sweep.settling)
        _ = await sweeper.sweep { desk.note($0) }
        #expect(await desk.blobs.has(names.deleted))
        #expect(desk.told.contains { $0.contains("the blobs are read-only") })
        await desk.blobs.setReadOnly(false)
        try await desk.sweep(after: Sweep.renewalAfterFailure, with: sweeper)
        #expect(await desk.blobs.has(names.deleted))
        try await desk.sweep(after: Sweep.settling, with: sweeper)
        #expect(await !desk.blobs.has(names.deleted))
    }

    @Test("A marker says what it is, and everything else is none")
    func format() {
        let marker = BlobMarker(installation: NodeID(0xab), nonce: 0x1234, isContested: true)
        #expect(BlobMarker(marker.bytes) == marker)
        let text = String(decoding: marker.bytes, as: UTF8.self)
        #expect(
            text
                == #"{"format":"hesper-attachments","formatVersion":1,"installation":"00000000000000ab","#
                + #""nonce":"0000000000001234","contested":true}"# + "\n")
        for wrong in ["", "{}", "null", String(text.dropLast(3)), text.replacing("1,", with: "2,")] {
            #expect(BlobMarker(Array(wrong.utf8)) == nil)
        }
    }
}
