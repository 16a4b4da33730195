import HesperModel
import HesperStore

/// Finds the live object for an ID. Usually this is the object with the ID. If that object was merged into another object, its
/// DeletedObject contains the ID of the other object in the field `mergedInto`, and the search continues with that ID (merge.md,
/// Membership).
///
/// Results are cached, so that a long chain of merged objects is followed only once, even if it contains many members (tags or
/// attachments) of a note. A resolver can be used only with the snapshot for which it was created.
public final class Resolver {
    let snapshot: any Snapshot
    let scope: ScopeID
    /// The results of earlier look-ups: for each ID, the ID of its live object, or nil if it has none.
    private var targets: [UniqueID: UniqueID?] = [:]

    /// The number of DeletedObjects that were read so far, over all look-ups.
    private var hops = 0

    /// The maximum number of DeletedObjects that are followed in one look-up. All look-ups of a resolver together may follow ten
    /// times as many.
    static let mostHops = 10_000

    public init(snapshot: any Snapshot, scope: ScopeID) {
        self.snapshot = snapshot
        self.scope = scope
    }

    /// The ID of the live object for an ID. Nil if there is no such object, or if more than ``mostHops`` DeletedObjects would have
    /// to be followed.
    public func live(_ id: UniqueID) throws -> UniqueID? {
        var path: [UniqueID] = []
        var next: UniqueID? = id
        var target: UniqueID?
        while let id = next {
            if let known = targets[id] {
                target = known
                break
            }
            guard path.count <= Resolver.mostHops, hops <= 10 * Resolver.mostHops else {
                // The chain of merged objects is too long. The IDs that were visited are removed from the cache, because a
                // look-up that begins at one of them follows a shorter chain, and may find the object at its end.
                for id in path { targets[id] = nil }
                return nil
            }
            path.append(id)
            // Devices may push any `mergedInto`, so a chain may be a cycle. Each visited ID is therefore first cached as an ID
            // without a live object. If the look-up reaches the same ID again, it ends.
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

    /// The given ID, and the IDs of all objects that were merged into the object with this ID, directly or through other objects.
    /// At most ``mostHops`` IDs are returned, the nearest first.
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

    /// The live tags and attachments of a note, each list in the order of the members' clocks.
    func members(of note: Note) throws -> (tags: [UniqueID], attachments: [UniqueID]) {
        (try note.tags.resolved(live), try note.attachments.resolved(live))
    }

    /// The JSON of an object in the form without clocks.
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
