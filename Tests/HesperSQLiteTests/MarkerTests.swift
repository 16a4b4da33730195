import Foundation
import HesperModel
import HesperStore
import Testing

@testable import HesperSQLite

/// Bytes are removed only by the database that owns them, and not by copies of it (storage.md, The marker).
@Suite("Marker of the blob store")
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

    /// Creates an attachment that a note holds, and one whose bytes are to be removed.
    private func fill(_ desk: SweepDesk) async throws -> (kept: BlobName, deleted: BlobName) {
        let (note, kept, deleted) = (UniqueID.random(), UniqueID.random(), UniqueID.random())
        let names = try await (desk.bytes(for: kept), desk.bytes(for: deleted))
        try await desk.push(
            desk.note(note, "x"), desk.picture(kept), desk.picture(deleted),
            desk.change(note, .notes, Edit(.attachment(kept), .bool(true), at: desk.clock())))
        try await desk.push(desk.delete(deleted, .attachment))
        return names
    }

    /// Copies the database as `cp` would, with the same blob store.
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

    @Test("The first sweep writes a marker, and its nonce is renewed every hour")
    func renewal() async throws {
        let desk = try await SweepDesk()
        let names = try await fill(desk)
        try await desk.sweep()
        #expect(await !desk.blobs.has(names.deleted), "no copy can have the first nonce")
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
        #expect(desk.messages.isEmpty)
    }

    @Test("A database of an earlier version with known bytes and no marker writes one without a warning")
    func upgrade() async throws {
        let desk = try await SweepDesk()
        _ = try await fill(desk)
        #expect(try await blocker(desk) == .unmarked)
        try await desk.sweep()
        #expect(try await blocker(desk) == nil)
        #expect(desk.messages.isEmpty)
    }

    @Test("A crash between any two steps of a renewal leaves a marker that the database accepts")
    func crashes() async throws {
        let desk = try await SweepDesk()
        _ = try await fill(desk)
        let claim = BlobClaim(store: desk.store, blobs: desk.blobs)
        // Before the first marker: the nonce is committed, and the marker is not written.
        try await desk.store.write { try $0.set(BlobStoreRecord(nextNonce: 7)) }
        #expect(try await claim.removalBlocker() == .unmarked)
        #expect(try await claim.renew() == nil)
        #expect(try await marker(desk).nonce == 7)
        // The next nonce is committed and the old marker is in place, and then the new marker, while the old nonce is current.
        try await desk.store.write { try $0.set(BlobStoreRecord(currentNonce: 7, nextNonce: 8)) }
        #expect(try await claim.removalBlocker() == nil)
        let next = BlobMarker(installation: desk.store.installation.node, nonce: 8)
        await desk.blobs.replaceMarker(next.bytes)
        #expect(try await claim.removalBlocker() == nil)
        // If a renewal fails right after its first commit, the marker in place is still accepted.
        await desk.blobs.setReadOnly(true)
        await #expect(throws: StoreError.self) { _ = try await claim.renew() }
        #expect(try await record(desk).currentNonce == 8)
        #expect(try await claim.removalBlocker() == nil)
        let waiting = try await record(desk).nextNonce
        await desk.blobs.setReadOnly(false)
        #expect(try await claim.renew() == nil)
        #expect(try await marker(desk).nonce == waiting, "the same nonce, in case it was written")
        #expect(try await record(desk) == BlobStoreRecord(currentNonce: waiting))
    }

    @Test("Processes that renew or adopt concurrently agree on one nonce")
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

    @Test("If a copy of the database is served as well, neither removes anything until one adopts the bytes")
    func copied() async throws {
        let desk = try await SweepDesk()
        try await desk.sweep()
        let names = try await fill(desk)
        let copy = try await copy(desk)
        // The account is deleted in the copy, whose nonce is still current and whose server has just started.
        try await copy.write { try $0.deleteAccount(desk.account.uniqueID) }
        let other = sweeper(desk, on: copy)
        func sweepBoth(after milliseconds: Int64) async throws {
            _ = await other.sweep { desk.note($0) }
            try await desk.sweep(after: milliseconds)
        }
        // The copy also contains the lease, so its server does not sweep until it ends.
        for _ in 0..<10 { try await sweepBoth(after: 60_000) }
        #expect(try await blocker(desk) == .contested)
        #expect(desk.messages.contains { $0.contains("was written by another copy of this database") })
        var left = await desk.blobs.names.keys.sorted()
        #expect(left == [names.kept.path], "\(names) \(desk.messages)")
        let late = try await desk.bytes(for: .random())
        for _ in 0..<3 { try await sweepBoth(after: 20 * Timestamp.day) }
        left = await desk.blobs.names.keys.sorted()
        #expect(left == [names.kept.path, late.path].sorted(), "recorded removals are postponed as well")
        #expect(try await desk.number("SELECT count(*) FROM removed_blobs") == 1)
        try copy.close()
        try await BlobClaim(store: desk.store, blobs: desk.blobs).adopt(acceptingUnknown: 0)
        try await desk.sweep(after: 60_000)
        #expect(await desk.blobs.has(late), "another server has time to contest the marker")
        try await desk.sweep(after: Sweep.settling)
        left = await desk.blobs.names.keys.sorted()
        #expect(left == [names.kept.path])
        #expect(desk.messages.last == "removalResumed")
    }

    @Test("An old copy that finds a later nonce removes nothing and contests the marker")
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

    @Test("A marker of another database is detected before the next batch")
    func everyBatch() async throws {
        let desk = try await SweepDesk()
        try await desk.sweep()
        let names = try await fill(desk)
        await desk.blobs.replaceMarker(BlobMarker(installation: desk.store.installation.node, nonce: 1).bytes)
        try await desk.sweep()
        #expect(await desk.blobs.has(names.deleted))
        #expect(try await marker(desk).isContested)
    }

    @Test("Bytes of another installation are not removed, nor those of deleted attachments")
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

    @Test("An empty database does not claim existing bytes")
    func lostDatabase() async throws {
        let desk = try await SweepDesk()
        try await desk.store.write { try $0.deleteAccount(desk.account.uniqueID) }
        _ = await desk.sweeper().sweep { desk.note($0) }
        #expect(try await blocker(desk) == nil, "an empty database with an empty blob store has a marker")
        await desk.blobs.replaceMarker(nil)
        try await desk.store.write { try $0.set(BlobStoreRecord()) }
        await desk.blobs.put(BlobName(scope: ScopeID(1), attachment: .random()), desk.now)
        #expect(try await blocker(desk) == .lostDatabase)
        for _ in 0..<40 { _ = await desk.sweeper().sweep { desk.note($0) } }
        #expect(await desk.blobs.names.count == 1)
        #expect(try await desk.blobs.marker() == nil, "no marker is written")
        #expect(desk.messages.contains { $0.contains("the database is empty") })
    }

    @Test(
        "While the marker is missing or damaged, no bytes are removed and no marker is written",
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
        #expect(desk.messages.count == 3, "once an hour: \(desk.messages)")
    }

    @Test("While the marker cannot be renewed, no bytes are removed")
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
        #expect(desk.messages.contains { $0.contains("the blob store is read-only") })
        await desk.blobs.setReadOnly(false)
        try await desk.sweep(after: Sweep.renewalAfterFailure, with: sweeper)
        #expect(await desk.blobs.has(names.deleted))
        try await desk.sweep(after: Sweep.settling, with: sweeper)
        #expect(await !desk.blobs.has(names.deleted))
    }

    @Test("A marker is read as it was written, and other content is not accepted")
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
