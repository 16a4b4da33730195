import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// The routes of one object, for people and scripts who keep no clocks: of notes, of tags, of attachments (but their bytes)
/// and of apps' own objects (protocol.md, Two forms).
struct ObjectResource: Resource {
    let section: Section
    let backend: Backend

    private var path: String { "/v1/\(section.name)" }

    func add(to routes: inout Routes) {
        routes.get("\(path)/{uniqueID}", use: get)
        routes.put("\(path)/{uniqueID}", use: put)
        // An attachment has the ID that its bytes were uploaded under, and never changes.
        if section != .attachments {
            routes.post(path, use: create)
            routes.patch("\(path)/{uniqueID}", use: patch)
        }
        routes.delete("\(path)/{uniqueID}", use: delete)
    }

    // MARK: Reading

    private func get(_ call: Call, _ session: Session) async throws -> Response {
        let id = try call.uniqueID()
        let body = try await read(id, session)
        let tag = ETag(of: body)
        if let list = call[.ifNoneMatch], tag.isIn(list) {
            return Response(status: .notModified, headers: [.eTag: tag.text])
        }
        return answer(body, status: .ok)
    }

    private func read(_ id: UniqueID, _ session: Session) async throws -> [UInt8] {
        let (section, scope) = (section, session.scope)
        return try await backend.store.read { snapshot in
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            let entity = try section.live(try snapshot.state(of: id, in: scope), id)
            return try resolver.plain(entity)
        }
    }

    private func answer(_ body: [UInt8], status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.eTag] = ETag(of: body).text
        return .json(body, status: status, headers: headers)
    }

    // MARK: Writing

    private func create(_ call: Call, _ session: Session) async throws -> Response {
        let fields = try PlainFields(try await call.json(limit: Limits.pushBytes), of: section, isPatch: false)
        return try await write(fields, to: fields.uniqueID ?? .random(), .create, call, session)
    }

    private func put(_ call: Call, _ session: Session) async throws -> Response {
        let id = try call.uniqueID()
        let fields = try PlainFields(try await call.json(limit: Limits.pushBytes), of: section, isPatch: false)
        guard fields.uniqueID == nil || fields.uniqueID == id else {
            throw Problem(.invalidField, "uniqueID is not that of the path.", at: "/uniqueID")
        }
        return try await write(fields, to: id, .put, call, session)
    }

    private func patch(_ call: Call, _ session: Session) async throws -> Response {
        let id = try call.uniqueID()
        let fields = try PlainFields(try await call.json(limit: Limits.pushBytes), of: section, isPatch: true)
        return try await write(fields, to: id, .patch, call, session)
    }

    private enum Verb { case create, put, patch }

    private func write(
        _ fields: PlainFields, to id: UniqueID, _ verb: Verb, _ call: Call, _ session: Session
    ) async throws -> Response {
        let (section, scope, now) = (section, session.scope, backend.now())
        let (ifMatch, ifNoneMatch) = (call[.ifMatch], call[.ifNoneMatch])
        let applied = try await backend.scope(of: session).write(
            by: session.device.node, isWhole: true, bytes: fields.byteCount
        ) { transaction, _, stamp in
            let resolver = Resolver(snapshot: transaction, scope: scope)
            let state = try transaction.state(of: id, in: scope)
            let live = try section.liveIfAny(state, id, named: fields.values[.name], in: resolver)
            try section.checkPreconditions(live, ifMatch: ifMatch, ifNoneMatch: ifNoneMatch, in: resolver)
            if live == nil, verb == .patch { throw Problem.notFound(id) }
            if live != nil, verb == .create { return Push() }
            // A tag that is made without an ID of its own is the one that has its name already.
            if section == .tags, live == nil, fields.uniqueID == nil, verb == .create,
                try resolver.tag(named: fields.values[.name], in: transaction) != nil
            {
                return Push()
            }
            // What waits has edits already, which the new ones must follow.
            var waiting: Entity?
            if case .entity(let entity, _)? = state { waiting = entity }
            let write = PlainWrite(
                id: id, section: section, fields: fields, isPatch: verb == .patch,
                hasRead: ifMatch != nil && ifMatch != "*",
                resolver: resolver)
            return try write.push(live ?? waiting, at: now, stamp: &stamp)
        }
        return try await answer(fields, id, isNew: applied.isNew(id), session)
    }

    /// The object as it stands after a write; for a tag whose name was taken, the tag that has it.
    private func answer(
        _ fields: PlainFields, _ id: UniqueID, isNew: Bool, _ session: Session
    ) async throws -> Response {
        let (section, scope) = (section, session.scope)
        let (standing, body) = try await backend.store.read { snapshot in
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            let standing = try resolver.survivor(of: id, named: fields.values[.name], in: snapshot)
            let entity = try section.live(try snapshot.state(of: standing, in: scope), standing)
            return (standing, try resolver.plain(entity))
        }
        if standing != id { return answer(body, status: .ok, headers: [.contentLocation: "\(path)/\(standing)"]) }
        return isNew
            ? answer(body, status: .created, headers: [.location: "\(path)/\(id)"]) : answer(body, status: .ok)
    }

    private func delete(_ call: Call, _ session: Session) async throws -> Response {
        let id = try call.uniqueID()
        let (section, scope, ifMatch) = (section, session.scope, call[.ifMatch])
        _ = try await backend.scope(of: session).write(by: session.device.node, isWhole: true) {
            transaction, _, _ in
            switch try transaction.state(of: id, in: scope) {
            case .entity(let entity, _)? where entity.exists && entity.section == section:
                let resolver = Resolver(snapshot: transaction, scope: scope)
                try section.checkPreconditions(entity, ifMatch: ifMatch, ifNoneMatch: nil, in: resolver)
                guard let type = entity.objectType else { throw Problem.notFound(id) }
                return Push([.deletion(Deletion(uniqueID: id, objectType: type))])
            case .deleted(let deleted, _)? where Section(deleted.objectType) == section: return Push()
            default: throw Problem.notFound(id)
            }
        }
        let state = try await backend.store.read { try $0.state(of: id, in: scope) }
        guard case .deleted(let deleted, _)? = state else { throw Problem.notFound(id) }
        return .json(deleted.body)
    }
}
