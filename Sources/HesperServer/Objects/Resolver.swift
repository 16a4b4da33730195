import HesperModel
import HesperStore

/// Follows IDs through `mergedInto` to the live objects that they lead to (merge.md, Membership).
struct Resolver {
    let snapshot: any Snapshot
    let scope: ScopeID

    /// The live object that an ID leads to; nil for the dead and the unknown.
    func live(_ id: UniqueID) throws -> UniqueID? {
        var id = id
        var seen: Set<UniqueID> = []
        // Devices may push any `mergedInto`: a circle of them leads nowhere.
        while seen.insert(id).inserted {
            switch try snapshot.state(of: id, in: scope) {
            case .entity(let entity, _)?: return entity.exists ? id : nil
            case .deleted(let deleted, _)?:
                guard let target = deleted.mergedInto else { return nil }
                id = target
            case nil: return nil
            }
        }
        return nil
    }

    /// An ID and all that lead to it.
    func ancestors(of id: UniqueID) throws -> [UniqueID] {
        var found: [UniqueID] = [id]
        var seen: Set<UniqueID> = [id]
        var next = 0
        while next < found.count {
            for other in try snapshot.mergedFrom(found[next], in: scope) where seen.insert(other).inserted {
                found.append(other)
            }
            next += 1
        }
        return found
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
