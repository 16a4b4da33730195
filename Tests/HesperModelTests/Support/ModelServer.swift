@testable import HesperModel

/// A server of one scope, as far as a device can tell: it merges, keeps, and answers in bytes (protocol.md, Sync).
struct ModelServer {
    /// How far a device has read, and of which installation.
    struct Token: Equatable {
        var epoch: Int
        var sequence: Int64
    }

    struct Answer {
        var receipts: [Receipt] = []
        /// Bodies as they travel.
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

    /// Puts an earlier copy in the place of what there is (operating.md, Restoring). The bytes of attachments are kept apart.
    mutating func restore(_ backup: MemoryBag) {
        let data = bag.data
        bag = backup
        bag.data = data
        bag.restoredSequence = backup.sequence
        epoch += 1
    }

    /// Nil if the token has expired: then nothing of the call is applied.
    mutating func sync(_ push: Push, by sender: NodeID? = nil, since token: Token?) throws -> Answer? {
        if let token, expires(token) { return nil }
        let read = token?.sequence ?? 0
        let outcome = try bag.apply(push, by: sender, server: node, at: now)
        var answer = Answer(
            receipts: outcome.receipts, token: Token(epoch: epoch, sequence: bag.sequence), digest: bag.digest, now: now
        )
        // A change that nobody else's preceded is the sender's own echo, and left out, if all of it stands; but to
        // attachments the server adds what it knows of their bytes.
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
            case .entity(let entity, .some): answer.objects.append((id, entity.section, entity.body))
            case .deleted(let deleted, _): answer.deleted.append(deleted)
            case .entity(_, nil): break
            }
        }
        return answer
    }
}
