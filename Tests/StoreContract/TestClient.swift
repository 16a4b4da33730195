import HesperModel
import HesperStore

/// A test account with one device, for tests in other modules.
public struct TestClient: Sendable {
    public let store: any Store
    public let account: Account
    public let node = NodeID.random()
    public let token = TokenHash(bytes: (0..<32).map { _ in .random(in: .min ... .max) })

    public static let now = Timestamp(clamping: 1_767_225_600_000)

    public init(_ store: any Store, email: String = "ada@example.com") async throws {
        self.store = store
        let account = try await store.write {
            try $0.insertAccount(.random(), email: email, passwordHash: "x", creationDate: TestClient.now)
        }
        guard let account else { throw StoreError.failed("no account") }
        self.account = account
        let device = Device(
            node: node, account: account.uniqueID, name: "laptop", appVersion: nil, userAgent: nil,
            creationDate: TestClient.now, lastUseDate: TestClient.now)
        let token = token
        try await store.write { try $0.insert(device, token: token) }
    }

    public var scope: ScopeID { account.scope }

    public func clock(_ milliseconds: UInt64) -> Clock {
        var source = ClockSource(node: node)
        return source.tick(at: UInt64(TestClient.now.milliseconds) + milliseconds)
    }

    public func note(_ id: UniqueID, _ text: String, at time: UInt64 = 1, tag: UniqueID? = nil) -> Push.Element {
        let edits = [
            Edit(.creationDate, .date(TestClient.now), at: nil), Edit(.text, .string(text), at: clock(time)),
        ]
        return .change(
            Change(
                uniqueID: id, section: .notes,
                edits: edits + (tag.map { [Edit(.tag($0), .bool(true), at: clock(time))] } ?? [])))
    }

    public func tag(_ id: UniqueID, _ name: String, at time: UInt64 = 1) -> Push.Element {
        .change(Change(uniqueID: id, section: .tags, edits: [Edit(.name, .string(name), at: clock(time))]))
    }

    public func object(_ id: UniqueID, type: String) -> Push.Element {
        .change(Change(uniqueID: id, section: .objects, edits: [Edit(.objectType, .string(type), at: nil)]))
    }

    public func delete(_ id: UniqueID, _ type: ObjectType = .note) -> Push.Element {
        .deletion(Deletion(uniqueID: id, objectType: type))
    }

    /// Creates an attachment with recorded bytes that no note holds.
    public func pushAttachment() async throws -> UniqueID {
        let id = UniqueID.random()
        let data = AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32))
        let blob = Blob(name: BlobName(scope: scope, attachment: id), data: data, arrivalDate: TestClient.now)
        try await store.write { try $0.insert(blob) }
        try await push(
            .change(
                Change(
                    uniqueID: id, section: .attachments, edits: [Edit(.mimeType, .string("image/png"), at: nil)])))
        return id
    }

    @discardableResult
    public func push(_ elements: [Push.Element], in transaction: any Transaction) throws -> ScopeHead {
        guard let locked = try transaction.lock(scope) else { throw StoreError.failed("no scope") }
        let outcome = try Merge.apply(
            Push(elements), to: transaction.bag(of: scope),
            in: Merge.Context(
                now: TestClient.now, server: store.installation.node, serverClock: locked.serverClock,
                greatestClock: locked.greatestClock))
        return try transaction.append(outcome, to: locked, by: node, at: TestClient.now).head
    }

    @discardableResult
    public func push(_ elements: Push.Element...) async throws -> ScopeHead {
        try await store.write { try push(elements, in: $0) }
    }

    /// Creates a tag with sequence number 1 and a note that holds it with number 2, and fills the term index.
    public func pushNoteAndTag() async throws -> (note: UniqueID, tag: UniqueID) {
        let (id, tag) = (UniqueID.random(), UniqueID.random())
        try await push(self.tag(tag, "Paris"), note(id, "Milk", tag: tag))
        _ = try await store.write { try $0.indexTerms(of: scope, limit: 100) }
        return (id, tag)
    }

    public func ids() async throws -> [UniqueID] {
        try await store.read { snapshot in
            var ids: [UniqueID] = []
            try snapshot.scan(Scan(.all, rows: .all, sequences: 0...Int64.max, newestFirst: false), in: scope) { row in
                row.id().map { ids.append($0) }
                return true
            }
            return ids
        }
    }

    public func inconsistencies() async throws -> [String] {
        try await store.read { snapshot in
            var found: [String] = []
            try snapshot.inconsistencies(in: scope) { found.append($0) }
            return found
        }
    }
}
