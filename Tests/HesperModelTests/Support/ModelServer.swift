@testable import HesperModel

/// A server with one scope, as a device sees it: it merges pushes and responds with JSON bodies (protocol.md, Sync).
struct ModelServer {
    /// How far a device has read, and from which epoch.
    struct Token: Equatable {
        var epoch: Int
        var sequence: Int64
    }

    struct Response {
        var receipts: [Receipt] = []
        /// Objects with their JSON bodies.
        var objects: [(id: UniqueID, section: Section, body: [UInt8])] = []
        var deleted: [DeletedObject] = []
        var token: Token
        var digest: Digest
        var now: Timestamp
    }

    let node = NodeID(0x5e_7e_00)
    var bag = MemoryBag()
    var epoch = 1
    var now = Timestamp(clamping: 0)

    func expires(_ token: Token) -> Bool { token.epoch != epoch || token.sequence > bag.sequence }

    /// Replaces the database with an earlier copy (operating.md, Restoring). The bytes of attachments are stored separately and
    /// remain.
    mutating func restore(_ backup: MemoryBag) {
        let data = bag.data
        bag = backup
        bag.data = data
        bag.restoredSequence = backup.sequence
        epoch += 1
    }

    /// Returns nil if the token has expired. In that case nothing is applied.
    mutating func sync(_ push: Push, by sender: NodeID? = nil, since token: Token?) throws -> Response? {
        if let token, expires(token) { return nil }
        let read = token?.sequence ?? 0
        let outcome = try bag.apply(push, by: sender, server: node, at: now)
        var response = Response(
            receipts: outcome.receipts, token: Token(epoch: epoch, sequence: bag.sequence), digest: bag.digest, now: now
        )
        // A change is omitted from the response to its sender if all of it is current and no other device's change preceded it.
        // Attachments are sent, because the server adds the size and hash.
        let applied = Set(outcome.receipts.filter { $0.status == .applied }.compactMap(\.uniqueID))
        let others = Set(
            outcome.receipts.filter { $0.status > .applied }.flatMap { [$0.uniqueID, $0.rescuedInto] }
                .compactMap(\.self))
        let echoes = outcome.changes.filter { change in
            let before = change.before.map { $0.sequence ?? .max } ?? 0
            return applied.contains(change.uniqueID) && !others.contains(change.uniqueID) && before <= read
                && bag.section(of: change.uniqueID) != .attachments
        }.map(\.uniqueID)
        for (id, state) in bag.states {
            let isNew = (state.sequence ?? 0) > read && !echoes.contains(id)
            guard isNew || others.contains(id) else { continue }
            switch state {
            case .entity(let entity, .some): response.objects.append((id, entity.section, entity.body))
            case .deleted(let deleted, _): response.deleted.append(deleted)
            case .entity(_, nil): break
            }
        }
        return response
    }
}
