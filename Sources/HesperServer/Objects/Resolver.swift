import HesperModel
import HesperStore

/// Follows IDs through `mergedInto` to the live objects that they lead to (merge.md, Membership).
///
/// It remembers where each ID led, so that many members on one long chain cost one walk along it. Use it for one snapshot.
final class Resolver {
    let snapshot: any Snapshot
    let scope: ScopeID
    /// Where IDs lead that were followed before; nil for those that lead nowhere.
    private var targets: [UniqueID: UniqueID?] = [:]

    /// How many DeletedObjects it has walked along.
    private var hops = 0

    /// DeletedObjects that are followed at most, from one ID or to one ID; all its walks together may have ten times as many.
    static let mostHops = 10_000

    init(snapshot: any Snapshot, scope: ScopeID) {
        self.snapshot = snapshot
        self.scope = scope
    }

    /// The live object that an ID leads to; nil for the dead and the unknown, and past ``mostHops``.
    func live(_ id: UniqueID) throws -> UniqueID? {
        var path: [UniqueID] = []
        var next: UniqueID? = id
        var target: UniqueID?
        while let id = next {
            if let known = targets[id] {
                target = known
                break
            }
            guard path.count <= Resolver.mostHops, hops <= 10 * Resolver.mostHops else {
                // Those in the middle of the chain may still lead somewhere.
                for id in path { targets[id] = nil }
                return nil
            }
            path.append(id)
            // Devices may push any `mergedInto`: a circle of them leads nowhere.
            targets[id] = .some(nil)
            next = nil
            switch try snapshot.state(of: id, in: scope) {
            case .entity(let entity, _)?: target = entity.exists ? id : nil
            case .deleted(let deleted, _)?:
                next = deleted.mergedInto
                hops += 1
            case nil: break
            }
        }
        for id in path { targets[id] = .some(target) }
        return target
    }

    /// An ID and those that lead to it, the nearest ``mostHops`` of them.
    func ancestors(of id: UniqueID) throws -> [UniqueID] {
        var found: [UniqueID] = [id]
        var seen: Set<UniqueID> = [id]
        var next = 0
        while next < found.count, found.count < Resolver.mostHops {
            for other in try snapshot.mergedFrom(found[next], in: scope) where seen.insert(other).inserted {
                found.append(other)
            }
            next += 1
        }
        return Array(found.prefix(Resolver.mostHops))
    }

    /// A note's live members, each list in the order of its clocks.
    func members(of note: Note) throws -> (tags: [UniqueID], attachments: [UniqueID]) {
        (try note.tags.resolved(live), try note.attachments.resolved(live))
    }

    /// An object as it is shown to whoever keeps no clocks.
    func plain(_ entity: Entity) throws -> [UInt8] {
        switch entity {
        case .note(let note):
            let members = try members(of: note)
            return note.plain(tags: members.tags, attachments: members.attachments)
        case .tag(let tag): return tag.plain
        case .object(let object): return object.plain
        case .attachment: return entity.body
        }
    }
}
