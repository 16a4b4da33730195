import HesperModel
import HesperStore

/// A phone of a desk's account that gets lost. Times are in seconds after ``Desk/begin``.
struct LostPhone: Sendable {
    let desk: Desk
    let phone: Device
    let queue: PushQueue

    /// When it was lost: what it pushes later is a stranger's.
    static let moment = 100

    init(of desk: Desk) async throws {
        self.desk = desk
        let phone = Desk.device(of: desk.account.uniqueID, name: "phone")
        self.phone = phone
        queue = PushQueue(store: desk.store)
        try await desk.store.write { try $0.insert(phone, token: Desk.token()) }
    }

    var laptop: NodeID { desk.device.node }
    var scope: ScopeID { desk.scope }

    func revoker() -> Revoker { Revoker(store: desk.store, queue: queue, now: { Desk.date(900_000) }) }

    @discardableResult
    func push(by node: NodeID, at second: Int, _ elements: [Push.Element]) async throws -> Scope.PushResult {
        let writer = Scope(
            scope, queue: queue, installation: desk.store.installation, now: { Desk.date(Int64(second) * 1_000) })
        return try await writer.write(by: node) { _, _, _ in Push(elements) }
    }

    /// Sets attributes, as of that second.
    @discardableResult
    func set(
        _ id: UniqueID, _ edits: (Attribute, Value)..., by node: NodeID, at second: Int, base: Clock? = nil
    ) async throws -> Scope.PushResult {
        let clock = desk.clock(UInt64(second) * 1_000, by: node)
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
        let clock = desk.clock(UInt64(second) * 1_000, by: node)
        let all: [Edit] =
            [
                Edit(.creationDate, .date(Desk.date(Int64(second) * 1_000)), at: nil),
                Edit(.text, .string(text), at: clock),
            ] + edits.map { Edit($0.0, $0.1, at: clock) }
        try await push(by: node, at: second, [desk.change(id, .notes, all)])
        return id
    }

    func makeTag(_ name: String, _ id: UniqueID = .random(), by node: NodeID, at second: Int) async throws -> UniqueID {
        try await set(id, (.name, .string(name)), by: node, at: second)
        return id
    }

    func makePicture(by node: NodeID, at second: Int) async throws -> UniqueID {
        let id = UniqueID.random()
        try await desk.bytesArrive(for: id)
        try await push(
            by: node, at: second, [desk.change(id, .attachments, [Edit(.mimeType, .string("image/png"), at: nil)])])
        return id
    }

    // MARK: Revoking

    /// Says that it is lost; what it pushed is still to be put back.
    @discardableResult
    func revoke(since second: Int? = LostPhone.moment, by requester: NodeID? = nil) async throws -> Revocation {
        let (scope, phone, requester) = (scope, phone, requester ?? laptop)
        return try await desk.store.write { transaction in
            _ = try transaction.lock(scope)
            let revocation = Revocation(
                of: phone.node, named: phone.name, in: scope, by: requester, at: Desk.date(800_000),
                since: second.map { Desk.date(Int64($0) * 1_000) })
            try transaction.put(revocation)
            _ = try transaction.deleteDevice(phone.node, of: phone.account)
            return revocation
        }
    }

    /// What is known of it by now.
    func revocation() async throws -> Revocation {
        let (scope, node) = (scope, phone.node)
        return try unwrap(try await desk.read { try $0.revocation(of: node, in: scope) }, "the revocation")
    }

    /// Everything that a person sees, as plain routes show it, by ID.
    func everything() async throws -> [UniqueID: String] {
        var all: [UniqueID: String] = [:]
        for id in try await desk.rows().map(\.id) {
            switch try await desk.state(id) {
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
    /// A case about a phone that gets lost; at its end the store's own check has to find nothing.
    init(_ name: String, lost run: @escaping @Sendable (LostPhone) async throws -> Void) {
        self.init(name) { (desk: Desk) in
            try await run(try await LostPhone(of: desk))
            try expect(try await desk.inconsistencies(), is: [])
        }
    }
}
