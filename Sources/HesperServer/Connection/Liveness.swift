import HesperModel
import HesperStore

/// What a resource route finds under an ID: something live of its own kind, something deleted, or nothing.
extension Section {
    /// - Throws: ``Problem`` `deleted` with the DeletedObject, or `not-found`: also for what is of another kind.
    func live(_ state: ObjectState?, _ id: UniqueID) throws(Problem) -> Entity {
        switch state {
        case .entity(let entity, _)? where entity.exists && entity.section == self: return entity
        case .deleted(let deleted, _)? where Section(deleted.objectType) == self: throw Problem(deleted: deleted)
        default: throw .notFound(id)
        }
    }

    /// The live object that a write meets; nil if it makes one.
    ///
    /// A tag that was merged into the one that now has its name is not gone for whoever sends it again.
    func liveIfAny(
        _ state: ObjectState?, _ id: UniqueID, named name: Value?, in resolver: Resolver
    ) throws -> Entity? {
        switch state {
        case nil: return nil
        case .entity(let entity, _)?:
            guard entity.section == self else {
                let type = entity.objectType?.name ?? "object"
                throw Problem(
                    .invalidField, "\(id) is a \(type) already; another object takes another ID.", at: "/uniqueID")
            }
            return entity.exists ? entity : nil
        case .deleted(let deleted, _)?:
            guard try resolver.survivor(of: id, named: name, in: resolver.snapshot) == id else { return nil }
            throw Problem(deleted: deleted)
        }
    }

    /// `If-Match` and `If-None-Match` of a write (RFC 9110, 13.1).
    func checkPreconditions(
        _ live: Entity?, ifMatch: String?, ifNoneMatch: String?, in resolver: Resolver
    ) throws {
        guard ifMatch != nil || ifNoneMatch != nil else { return }
        let tag = try live.map { ETag(of: try resolver.plain($0)) }
        if let ifMatch, tag?.isIn(ifMatch) != true {
            throw Problem(.preconditionFailed, "It is not the version that If-Match names: read it again.")
        }
        if let ifNoneMatch, tag?.isIn(ifNoneMatch) == true {
            throw Problem(.preconditionFailed, "It is there already.")
        }
    }
}

extension Resolver {
    /// The tag that stands for a tag that was merged away and had this name; else the ID itself.
    func survivor(of id: UniqueID, named name: Value?, in snapshot: any Snapshot) throws -> UniqueID {
        guard case .string(let name)? = name else { return id }
        if case .entity(let entity, _)? = try snapshot.state(of: id, in: scope), entity.exists { return id }
        let folded = TagName.fold(name)
        guard let holder = try snapshot.tag(named: folded, in: scope) else { return id }
        // Of an ID that was given, its DeletedObject says where its notes went; one never seen was not made at all.
        if let target = try live(id) { return target == holder ? holder : id }
        return try snapshot.state(of: id, in: scope) == nil ? holder : id
    }

    func tag(named name: Value?, in snapshot: any Snapshot) throws -> UniqueID? {
        guard case .string(let name)? = name else { return nil }
        return try snapshot.tag(named: TagName.fold(name), in: scope)
    }
}

extension Scope.PushResult {
    /// Whether it made this object: it has a number now and had none before.
    func isNew(_ id: UniqueID) -> Bool { created.contains(id) }
}
