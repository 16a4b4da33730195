import Foundation
import GRDB
import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import HesperSQLite

/// An account with a manual clock, and a sweeper that uses this clock and does not rest.
final class SweepDesk: Sendable {
    let folder = Folder()
    let store: SQLiteStore
    let queue: PushQueue
    let account: Account
    let node = NodeID(0xa)
    let blobs = MemoryBlobs()
    let stage = MemoryStage()
    private let time: NIOLockedValueBox<Timestamp>
    /// The sweeper of a server that keeps running.
    private let running = NIOLockedValueBox<Sweeper?>(nil)
    private let events = NIOLockedValueBox<[String]>([])

    static let begin = Timestamp(clamping: 1_767_261_600_000)  // 2026-01-01T10:00:00Z

    /// - Parameter prepare: called with each new connection.
    init(prepare: @escaping @Sendable (Database) throws -> Void = { _ in }) async throws {
        let store = try SQLiteStore(folder: folder.url, prepare: prepare)
        self.store = store
        queue = PushQueue(store: store)
        time = NIOLockedValueBox(SweepDesk.begin)
        let account = try await store.write {
            try $0.insertAccount(.random(), email: "ada@example.com", passwordHash: "x", creationDate: SweepDesk.begin)
        }
        self.account = try #require(account)
        try await signIn(node)
    }

    var scope: ScopeID { account.scope }
    var now: Timestamp { time.withLockedValue { $0 } }
    func pass(_ milliseconds: Int64) { time.withLockedValue { $0 = $0.adding(milliseconds) } }

    // MARK: Devices

    func signIn(_ node: NodeID) async throws {
        let device = Device(
            node: node, account: account.uniqueID, name: "device", appVersion: nil, userAgent: nil,
            creationDate: now, lastUseDate: now)
        let token = TokenHash(bytes: (0..<32).map { _ in .random(in: .min ... .max) })
        try await store.write { try $0.insert(device, token: token) }
    }

    /// Records that a device has read up to a sequence.
    func read(_ node: NodeID, upTo sequence: Int64) async throws {
        let now = now
        try await store.write {
            try $0.recordUse(of: node, at: now, appVersion: nil, userAgent: nil, address: nil, readSequence: sequence)
        }
    }

    /// A request with an idempotency key leaves a record.
    func keepIdempotencyRecord(_ key: UInt8) async throws {
        let hash = Array(repeating: key, count: 32)
        let record = IdempotencyRecord(
            keyHash: hash, bodyHash: hash, object: .random(), isCreation: true, date: now)
        try await store.write { try $0.insert(record, in: self.scope, limit: Limits.idempotencyKeys) }
    }

    // MARK: Pushing

    func clock(by node: NodeID? = nil) -> Clock {
        var source = ClockSource(node: node ?? self.node)
        return source.tick(at: UInt64(now.milliseconds))
    }

    func change(_ id: UniqueID, _ section: Section, base: Clock? = nil, _ edits: Edit...) -> Push.Element {
        .change(Change(uniqueID: id, section: section, edits: edits, textBase: base))
    }

    func note(_ id: UniqueID, _ text: String) -> Push.Element {
        change(
            id, .notes, Edit(.creationDate, .date(now), at: nil), Edit(.text, .string(text), at: clock()))
    }

    func text(_ id: UniqueID, _ text: String, by node: NodeID? = nil, base: Clock? = nil) -> Push.Element {
        change(id, .notes, base: base, Edit(.text, .string(text), at: clock(by: node)))
    }

    /// The clock of the current text.
    func textClock(of id: UniqueID) async throws -> Clock? {
        let scope = scope
        guard case .entity(.note(let note), _)? = try await store.read({ try $0.state(of: id, in: scope) }) else {
            return nil
        }
        return note.textClock
    }

    func delete(_ id: UniqueID, _ type: ObjectType = .note) -> Push.Element {
        .deletion(Deletion(uniqueID: id, objectType: type))
    }

    @discardableResult
    func push(_ elements: Push.Element..., by node: NodeID? = nil) async throws -> Scope.PushResult {
        try await Scope(scope, queue: queue, installation: store.installation, now: { self.now })
            .write(by: node ?? self.node) { _, _, _ in Push(elements) }
    }

    /// Stores bytes for an attachment, which need not exist.
    @discardableResult
    func bytes(for attachment: UniqueID) async throws -> BlobName {
        let blob = Blob(
            name: BlobName(scope: scope, attachment: attachment),
            data: AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32)), arrivalDate: now)
        await blobs.put(blob.name, now)
        try await store.write { try $0.insert(blob) }
        return blob.name
    }

    func picture(_ id: UniqueID) -> Push.Element {
        change(id, .attachments, Edit(.mimeType, .string("image/png"), at: nil))
    }

    // MARK: Sweeping

    func sweeper(
        _ policy: SweepPolicy = SweepPolicy(), blobs: (any BlobStore)? = nil,
        throttle: WriterThrottle = WriterThrottle(rest: { _ in })
    ) -> Sweeper {
        Sweeper(
            store: store, queue: queue, blobs: blobs ?? self.blobs, stage: stage, policy: policy, now: { self.now },
            throttle: throttle)
    }

    private var runningSweeper: Sweeper {
        running.withLockedValue { running in
            let sweeper = running ?? self.sweeper()
            running = sweeper
            return sweeper
        }
    }

    /// Advances the clock and sweeps; checks that the database is consistent afterwards.
    func sweep(
        after milliseconds: Int64 = 0, with sweeper: Sweeper? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        pass(milliseconds)
        let succeeded = await (sweeper ?? runningSweeper).sweep { self.note($0) }
        #expect(succeeded, "\(messages)", sourceLocation: sourceLocation)
        _ = try await store.write { try $0.indexTerms(of: self.scope, limit: 1_000) }
        #expect(try await inconsistencies() == [], sourceLocation: sourceLocation)
    }

    func note(_ event: SweepEvent) { events.withLockedValue { $0.append("\(event)") } }
    /// The events of the sweeper so far.
    var messages: [String] { events.withLockedValue { $0 } }

    func inconsistencies() async throws -> [String] {
        try await store.read { snapshot in
            var found: [String] = []
            try snapshot.inconsistencies(in: self.scope) { found.append($0) }
            return found
        }
    }

    // MARK: Reading

    /// The values of an attribute in the bag, in the order of arrival.
    func values(_ id: UniqueID, _ attribute: Attribute = .text) async throws -> [Value] {
        try await store.read { snapshot in
            try snapshot.history(of: id, in: self.scope, before: nil, limit: 10_000).reversed()
                .flatMap(\.parcel.edits).filter { $0.attribute == attribute }.compactMap(\.value)
        }
    }

    func text(of id: UniqueID) async throws -> String? {
        guard case .entity(.note(let note), _)? = try await state(id) else { return nil }
        return note.text
    }

    func state(_ id: UniqueID) async throws -> ObjectState? {
        try await store.read { try $0.state(of: id, in: self.scope) }
    }

    var head: ScopeHead {
        get async throws { try #require(try await store.read { try $0.head(of: self.scope) }) }
    }

    /// The result of a query, as `sqlite3` would print it.
    func number(_ sql: String) async throws -> Int64 {
        try await DatabaseQueue(path: folder.database).read { try Int64.fetchOne($0, sql: sql) ?? 0 }
    }
}

/// A blob store that keeps only names.
actor MemoryBlobs: BlobStore {
    private(set) var names: [String: Timestamp] = [:]
    /// Whether it is unavailable.
    private(set) var isUnavailable = false
    /// Whether the marker cannot be written, for example because the disk is full.
    private var isReadOnly = false
    private var markerBytes: [UInt8]?
    var unfinished = 0

    func put(_ name: BlobName, _ date: Timestamp) { names[name.path] = date }
    func put(path: String, _ date: Timestamp) { names[path] = date }
    func setUnavailable(_ isUnavailable: Bool) { self.isUnavailable = isUnavailable }
    func has(_ name: BlobName) -> Bool { names[name.path] != nil }
    func leaveUnfinished(_ count: Int) { unfinished = count }

    private func check() throws { if isUnavailable { throw StoreError.unavailable("the blob store is unavailable") } }

    func write<Bytes: AsyncSequence & Sendable>(
        _ name: BlobName, _ bytes: Bytes, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData where Bytes.Element == ByteBuffer { throw StoreError.failed("not for sweeps") }

    func adopt(
        _ path: String, as name: BlobName, checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData { throw StoreError.failed("not for sweeps") }

    func read(_ name: BlobName, _ range: Range<Int64>) async throws -> BlobBytes { throw BlobMissing(name) }

    func byteCount(of name: BlobName) async throws -> Int64? { names[name.path] == nil ? nil : 3 }

    func remove(_ name: BlobName) async throws {
        try check()
        names[name.path] = nil
    }

    private func listed() throws -> [String: Timestamp] {
        try check()
        return names
    }

    nonisolated func entries(_ body: (BlobEntry) async throws -> Void) async throws {
        for (path, date) in try await listed() { try await body(BlobEntry(path: path, byteCount: 3, date: date)) }
    }

    func removeUnfinished(before date: Timestamp) async throws -> Int {
        defer { unfinished = 0 }
        return unfinished
    }

    func marker() async throws -> [UInt8]? {
        try check()
        return markerBytes
    }

    func setMarker(_ bytes: [UInt8]) async throws {
        try check()
        if isReadOnly { throw StoreError.unavailable("the blob store is read-only") }
        markerBytes = bytes
    }

    /// Replaces the marker directly.
    func replaceMarker(_ bytes: [UInt8]?) { markerBytes = bytes }
    func setReadOnly(_ isReadOnly: Bool) { self.isReadOnly = isReadOnly }
}

/// An upload stage that keeps only names.
actor MemoryStage: UploadStage {
    private(set) var files: Set<UniqueID> = []

    func create(_ id: UniqueID) async throws { files.insert(id) }
    func byteCount(of id: UniqueID) async throws -> Int64? { files.contains(id) ? 0 : nil }

    func append<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to id: UniqueID, at offset: Int64, limit: Int64,
        checking check: (@Sendable (AttachmentData) throws -> Void)?
    ) async throws -> Int64 where Bytes.Element == ByteBuffer { throw StoreError.failed("not for sweeps") }

    func copy(
        _ id: UniqueID, to blobs: any BlobStore, as name: BlobName,
        checking check: @escaping @Sendable (AttachmentData) throws -> Void
    ) async throws -> AttachmentData { throw StoreError.failed("not for sweeps") }

    func write(_ id: UniqueID, to path: String) async throws { throw StoreError.failed("not for sweeps") }

    func remove(_ id: UniqueID) async throws { files.remove(id) }
    func all() async throws -> [UniqueID] { Array(files) }
}
