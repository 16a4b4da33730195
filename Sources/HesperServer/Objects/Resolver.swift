import HesperModel
import HesperStore

/// Follows IDs through `mergedInto` to the live objects that they lead to (merge.md, Membership).
///
/// Results are cached, so that many members on one long chain cost one walk. Valid for one snapshot.
final class Resolver {
    let snapshot: any Snapshot
    let scope: ScopeID
    /// The targets of IDs that were followed before; nil for IDs that lead to no live object.
    private var targets: [UniqueID: UniqueID?] = [:]

    /// The number of DeletedObjects that were followed so far.
    private var hops = 0

    /// The maximum number of DeletedObjects that are followed from or to one ID. All walks together may follow ten times as many.
    static let mostHops = 10_000

    init(snapshot: any Snapshot, scope: ScopeID) {
        self.snapshot = snapshot
        self.scope = scope
    }

    /// The live object that an ID leads to; nil for deleted and unknown IDs, and beyond ``mostHops``.
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
                // IDs in the middle of the chain may still lead to an object.
                for id in path { targets[id] = nil }
                return nil
            }
            path.append(id)
            // Devices may push any `mergedInto`, including cycles, which lead to no object.
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

    /// An ID and those that lead to it, up to ``mostHops`` of them, the nearest first.
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

    /// The live members of a note, each list in the order of its clocks.
    func members(of note: Note) throws -> (tags: [UniqueID], attachments: [UniqueID]) {
        (try note.tags.resolved(live), try note.attachments.resolved(live))
    }

    /// The JSON of an object without clocks.
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
