import HesperModel
import HesperStore

/// A test account with a phone that is lost and revoked. Times are in seconds after ``Client/begin``.
struct LostPhone: Sendable {
    let client: Client
    let phone: Device
    let queue: PushQueue

    /// The time at which it was lost. Later pushes are not by its owner.
    static let moment = 100

    init(of client: Client) async throws {
        self.client = client
        let phone = Client.device(of: client.account.uniqueID, name: "phone")
        self.phone = phone
        queue = PushQueue(store: client.store)
        try await client.store.write { try $0.insert(phone, token: Client.token()) }
    }

    var laptop: NodeID { client.device.node }
    var scope: ScopeID { client.scope }

    func revoker() -> Revoker { Revoker(store: client.store, queue: queue, now: { Client.date(900_000) }) }

    @discardableResult
    func push(by node: NodeID, at second: Int, _ elements: [Push.Element]) async throws -> Scope.PushResult {
        let writer = Scope(
            scope, queue: queue, installation: client.store.installation, now: { Client.date(Int64(second) * 1_000) })
        return try await writer.write(by: node) { _, _, _ in Push(elements) }
    }

    /// Sets attributes with clocks of that second.
    @discardableResult
    func set(
        _ id: UniqueID, _ edits: (Attribute, Value)..., by node: NodeID, at second: Int, base: Clock? = nil
    ) async throws -> Scope.PushResult {
        let clock = client.clock(UInt64(second) * 1_000, by: node)
        let section: Section = edits.contains { $0.0 == .name } ? .tags : .notes
        return try await push(
            by: node, at: second,
            [
                .change(
                    Change(
                        uniqueID: id, section: section,
                        edits: edits.map { Edit($0.0, $0.1, at: $0.0.isMutable ? clock : nil) }, textBase: base))
            ])
    }

    @discardableResult
    func makeNote(_ text: String, by node: NodeID, at second: Int, _ edits: (Attribute, Value)...) async throws
        -> UniqueID
    {
        let id = UniqueID.random()
        let clock = client.clock(UInt64(second) * 1_000, by: node)
        let all: [Edit] =
            [
                Edit(.creationDate, .date(Client.date(Int64(second) * 1_000)), at: nil),
                Edit(.text, .string(text), at: clock),
            ] + edits.map { Edit($0.0, $0.1, at: clock) }
        try await push(by: node, at: second, [client.change(id, .notes, all)])
        return id
    }

    func makeTag(_ name: String, _ id: UniqueID = .random(), by node: NodeID, at second: Int) async throws -> UniqueID {
        try await set(id, (.name, .string(name)), by: node, at: second)
        return id
    }

    func makePicture(by node: NodeID, at second: Int) async throws -> UniqueID {
        let id = UniqueID.random()
        try await client.bytesArrive(for: id)
        try await push(
            by: node, at: second, [client.change(id, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)])])
        return id
    }

    // MARK: Revoking

    /// Records the revocation, without undoing any changes yet.
    @discardableResult
    func revoke(since second: Int? = LostPhone.moment, by requester: NodeID? = nil) async throws -> Revocation {
        let (scope, phone, requester) = (scope, phone, requester ?? laptop)
        return try await client.store.write { transaction in
            _ = try transaction.lock(scope)
            let revocation = Revocation(
                of: phone.node, named: phone.name, in: scope, by: requester, at: Client.date(800_000),
                since: second.map { Client.date(Int64($0) * 1_000) })
            try transaction.put(revocation)
            _ = try transaction.deleteDevice(phone.node, of: phone.account)
            return revocation
        }
    }

    /// The current state of the revocation.
    func revocation() async throws -> Revocation {
        let (scope, node) = (scope, phone.node)
        return try unwrap(try await client.read { try $0.revocation(of: node, in: scope) }, "the revocation")
    }

    /// The plain JSON of all live objects by ID, as clients see them.
    func everything() async throws -> [UniqueID: String] {
        var all: [UniqueID: String] = [:]
        for id in try await client.rows().map(\.id) {
            switch try await client.state(id) {
            case .entity(.note(let note), _)?:
                let bytes = note.plain(tags: note.tags.raw.sorted(), attachments: note.attachments.raw.sorted())
                all[id] = String(decoding: bytes, as: UTF8.self)
            case .entity(.tag(let tag), _)?: all[id] = String(decoding: tag.plain, as: UTF8.self)
            case .entity(.object(let object), _)?: all[id] = String(decoding: object.plain, as: UTF8.self)
            case .entity(let other, _)?: all[id] = String(decoding: other.body, as: UTF8.self)
            case .deleted?, nil: break
            }
        }
        return all
    }
}

extension StoreContract.Case {
    /// A case with a lost phone. Afterwards, the store's own check must find no inconsistencies.
    init(_ name: String, lost run: @escaping @Sendable (LostPhone) async throws -> Void) {
        self.init(name) { (client: Client) in
            try await run(try await LostPhone(of: client))
            try expect(try await client.inconsistencies(), is: [])
        }
    }
}
