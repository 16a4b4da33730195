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

    /// Nil if the token has expired: then nothing of the call is applied.
    mutating func sync(_ push: Push, since token: Token?) throws -> Answer? {
        if let token, expires(token) { return nil }
        let read = token?.sequence ?? 0
        let outcome = try bag.apply(push, server: node, at: now)
        var answer = Answer(
            receipts: outcome.receipts, token: Token(epoch: epoch, sequence: bag.sequence), digest: bag.digest, now: now
        )
        // A change that nobody else's preceded is the sender's own echo, and left out, if all of it stands; but to
        // attachments the server adds what it knows of their bytes.
        let applied = Set(outcome.receipts.filter { $0.status == .applied }.compactMap(\.uniqueID))
        let others = Set(outcome.receipts.filter { $0.status > .applied }.compactMap(\.uniqueID))
        let echoes = outcome.changes.filter {
            applied.contains($0.uniqueID) && !others.contains($0.uniqueID) && $0.before?.sequence ?? 0 <= read
                && bag.section(of: $0.uniqueID) != .attachments
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
