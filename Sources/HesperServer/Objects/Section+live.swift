import HesperModel
import HesperStore

/// Look-ups of the live objects of a section, and the preconditions of writes.
extension Section {
    /// Returns the object of a stored state if the object is live.
    /// - Throws: `deleted`, with the DeletedObject, if the object was deleted; `not-found` if it does not exist or belongs to
    ///   another section.
    func live(_ state: ObjectState?, _ id: UniqueID) throws(Problem) -> Entity {
        switch state {
        case .entity(let entity, _)? where entity.exists && entity.section == self: return entity
        case .deleted(let deleted, _)? where Section(deleted.objectType) == self: throw Problem(deleted: deleted)
        default: throw .notFound(id)
        }
    }

    /// The live object that a write changes; nil if the write creates an object.
    ///
    /// If the object with this ID was deleted, the error `deleted` is thrown, with one exception: if a tag was merged into another
    /// tag, and the write has the ID of the first tag and the name of the second, the result is nil.
    func liveIfAny(
        _ state: ObjectState?, _ id: UniqueID, named name: Value?, in resolver: Resolver
    ) throws -> Entity? {
        switch state {
        case nil: return nil
        case .entity(let entity, _)?:
            guard entity.section == self else {
                let type = entity.objectType?.name ?? "object"
                throw Problem(
                    .invalidField, "\(id) is the ID of an existing \(type). Use another ID.", at: "/uniqueID")
            }
            return entity.exists ? entity : nil
        case .deleted(let deleted, _)?:
            guard try resolver.survivor(of: id, named: name, in: resolver.snapshot) == id else { return nil }
            throw Problem(deleted: deleted)
        }
    }

    /// Checks the headers `If-Match` and `If-None-Match` of a write (RFC 9110, 13.1).
    /// - Parameter live: the object before the write; nil if it does not exist.
    func checkPreconditions(
        _ live: Entity?, ifMatch: String?, ifNoneMatch: String?, in resolver: Resolver
    ) throws {
        guard ifMatch != nil || ifNoneMatch != nil else { return }
        let tag = try live.map { ETag(of: try resolver.plain($0)) }
        if let ifMatch, tag?.matches(ifMatch) != true {
            throw Problem(
                .preconditionFailed, "The current version of the object does not match If-Match. Read the object again."
            )
        }
        if let ifNoneMatch, tag?.matches(ifNoneMatch) == true {
            throw Problem(
                .preconditionFailed, "The current version of the object matches If-None-Match, so nothing was written.")
        }
    }
}

extension Resolver {
    /// The ID of the tag to which a write with this ID and name applies. If a live tag has the name, and `id` is either unknown or
    /// the ID of a tag that was merged into the live tag, the result is the ID of the live tag. Otherwise the result is `id`.
    func survivor(of id: UniqueID, named name: Value?, in snapshot: any Snapshot) throws -> UniqueID {
        guard case .string(let name)? = name else { return id }
        if case .entity(let entity, _)? = try snapshot.state(of: id, in: scope), entity.exists { return id }
        let folded = TagName.fold(name)
        guard let holder = try snapshot.tag(named: folded, in: scope) else { return id }
        // If the tag with this ID was merged into another tag, `live` returns the ID of the other tag. If no object has this ID,
        // the write created no tag, because a tag with the name existed. That tag is the result.
        if let target = try live(id) { return target == holder ? holder : id }
        return try snapshot.state(of: id, in: scope) == nil ? holder : id
    }

    func tag(named name: Value?, in snapshot: any Snapshot) throws -> UniqueID? {
        guard case .string(let name)? = name else { return nil }
        return try snapshot.tag(named: TagName.fold(name), in: scope)
    }
}

extension Scope.PushResult {
    /// Whether the write created this object.
    func isNew(_ id: UniqueID) -> Bool { created.contains(id) }
}
