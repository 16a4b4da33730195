import HesperModel
import HesperStore

/// A test account with one device, and helpers to create its pushes.
struct Client: Sendable {
    let store: any Store
    let account: Account
    let device: Device
    let token: TokenHash

    static let begin: UInt64 = 1_767_225_600_000

    init(on store: any Store, email: String = "ada@example.com") async throws {
        self.store = store
        let account = try await store.write { transaction in
            try transaction.insertAccount(
                .random(), email: email, passwordHash: "scrypt:none", creationDate: Client.date(0))
        }
        self.account = try unwrap(account, "an account for \(email)")
        let device = Client.device(of: self.account.uniqueID, name: "laptop")
        let token = Client.token()
        self.device = device
        self.token = token
        try await store.write { try $0.insert(device, token: token) }
    }

    var scope: ScopeID { account.scope }

    // MARK: Values

    static func token() -> TokenHash { TokenHash(bytes: (0..<32).map { _ in .random(in: .min ... .max) }) }

    static func device(of account: UniqueID, name: String, access: TokenAccess? = nil) -> Device {
        Device(
            node: .random(), account: account, name: name, appVersion: "1.0", userAgent: nil, creationDate: date(1),
            lastUseDate: date(2), lastUseAddress: "192.0.2.1", access: access)
    }

    /// Milliseconds after ``begin``.
    static func date(_ milliseconds: Int64) -> Timestamp { Timestamp(clamping: Int64(begin) + milliseconds) }

    /// A clock of this device, or of another node, in milliseconds after ``begin``.
    func clock(_ milliseconds: UInt64, by node: NodeID? = nil) -> Clock {
        var source = ClockSource(node: node ?? device.node)
        return source.tick(at: Client.begin + milliseconds)
    }

    // MARK: Changes

    /// A new note; `edits` are set at `time` with its text.
    func note(_ id: UniqueID, _ text: String, at time: UInt64, _ edits: (Attribute, Value)...) -> Push.Element {
        let clock = clock(time)
        return change(
            id, .notes,
            [
                Edit(.creationDate, .date(Client.date(Int64(time))), at: nil),
                Edit(.text, .string(text), at: clock),
            ] + edits.map { Edit($0.0, $0.1, at: clock) })
    }

    func tag(_ id: UniqueID, _ name: String, at time: UInt64) -> Push.Element {
        change(id, .tags, [Edit(.name, .string(name), at: clock(time))])
    }

    func object(_ id: UniqueID, type: String, at time: UInt64) -> Push.Element {
        change(
            id, .objects,
            [Edit(.objectType, .string(type), at: nil), Edit(.custom("size"), .integer(1), at: clock(time))])
    }

    func set(_ id: UniqueID, _ attribute: Attribute, _ value: Value, at time: UInt64, by node: NodeID? = nil)
        -> Push.Element
    {
        change(id, attribute == .name ? .tags : .notes, [Edit(attribute, value, at: clock(time, by: node))])
    }

    func change(_ id: UniqueID, _ section: Section, _ edits: [Edit]) -> Push.Element {
        .change(Change(uniqueID: id, section: section, edits: edits))
    }

    func delete(_ id: UniqueID, _ type: ObjectType = .note, mergedInto: UniqueID? = nil, at time: Int64 = 0)
        -> Push.Element
    {
        .deletion(
            Deletion(
                uniqueID: id, objectType: type, mergedInto: mergedInto,
                deletionDate: time == 0 ? nil : Client.date(time))
        )
    }

    // MARK: Pushing

    struct Pushed: Sendable {
        let head: ScopeHead
        let sequences: [UniqueID: Int64]
        let receipts: [Receipt]
    }

    /// The server's time in all pushes. The clocks of the cases are earlier.
    static let now = date(1_000_000_000)

    /// Merges and stores a push in the caller's transaction.
    @discardableResult
    func push(
        _ elements: [Push.Element], in transaction: any Transaction, at date: Timestamp = Client.now
    ) throws -> Pushed {
        let locked = try unwrap(try transaction.lock(scope), "the scope")
        let outcome = try Merge.apply(
            Push(elements), to: transaction.bag(of: scope),
            in: Merge.Context(
                now: date, server: store.installation.node, serverClock: locked.serverClock,
                greatestClock: locked.greatestClock))
        let (head, sequences) = try transaction.append(outcome, to: locked, by: device.node, at: date)
        return Pushed(head: head, sequences: sequences, receipts: outcome.receipts)
    }

    /// The size and digest of recorded bytes.
    static let data = AttachmentData(byteCount: 3, sha256: String(repeating: "ab", count: 32))

    func bytesArrive(for attachment: UniqueID, _ data: AttachmentData = Client.data) async throws {
        let blob = Blob(
            name: BlobName(scope: scope, attachment: attachment), data: data, arrivalDate: Client.now)
        try await store.write { try $0.insert(blob) }
    }

    @discardableResult
    func push(_ elements: Push.Element...) async throws -> Pushed { try await push(elements) }

    @discardableResult
    func push(_ elements: [Push.Element]) async throws -> Pushed {
        try await store.write { try push(elements, in: $0) }
    }

    // MARK: Reading

    func read<T: Sendable>(_ body: @escaping @Sendable (any Snapshot) throws -> T) async throws -> T {
        try await store.read(body)
    }

    func state(_ id: UniqueID) async throws -> ObjectState? {
        try await store.read { try $0.state(of: id, in: scope) }
    }

    func note(_ id: UniqueID) async throws -> Note {
        guard case .entity(.note(let note), _)? = try await state(id) else {
            throw Violation(description: "note \(id) does not exist")
        }
        return note
    }

    /// The results of the store's own check, which must be empty.
    func inconsistencies() async throws -> [String] {
        try await store.read { snapshot in
            var found: [String] = []
            try snapshot.inconsistencies(in: scope) { found.append($0) }
            return found
        }
    }
}
