import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// The routes that read and write a single note, tag, attachment (except its bytes) or app object, for clients that keep no
/// clocks (protocol.md, Two forms).
struct ObjectResource: Resource {
    let section: Section
    let backend: Backend
    private let keysInUse = IdempotencyKeysInUse()

    init(section: Section, backend: Backend) {
        self.section = section
        self.backend = backend
    }

    private var path: String { "/v1/\(section.name)" }

    func add(to routes: inout Routes) {
        let isNotes = section == .notes
        let (read, write): (Route.TokenRule, Route.TokenRule) =
            isNotes ? (.readTagged, .writeTagged) : (.read, .write)
        routes.get("\(path)/{uniqueID}", tokens: read, use: get)
        routes.put("\(path)/{uniqueID}", tokens: write, use: put)
        // Attachments cannot be created by `POST`, because an attachment must have the ID under which its bytes were uploaded.
        // Attachments never change, so there is no `PATCH`.
        if section != .attachments {
            routes.post(path, tokens: isNotes ? .appendTagged : .write, use: create)
            routes.patch("\(path)/{uniqueID}", tokens: write, use: patch)
        }
        routes.delete("\(path)/{uniqueID}", tokens: write, use: delete)
    }

    // MARK: Reading

    private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let body = try await read(id, session)
        let tag = ETag(of: body)
        if let list = request[.ifNoneMatch], tag.matches(list) {
            return Response(status: .notModified, headers: [.eTag: tag.text])
        }
        return response(body, status: .ok)
    }

    private func read(_ id: UniqueID, _ session: Session) async throws -> [UInt8] {
        let (section, scope, restriction) = (section, session.scope, NoteRestriction(session))
        return try await backend.store.read { snapshot in
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            let state = try snapshot.state(of: id, in: scope)
            try restriction?.check(state, id, in: resolver)
            return try resolver.plain(try section.live(state, id))
        }
    }

    private func response(_ body: [UInt8], status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.eTag] = ETag(of: body).text
        return .json(body, status: status, headers: headers)
    }

    // MARK: Writing

    private func create(_ request: APIRequest, _ session: Session) async throws -> Response {
        guard let key = try IdempotencyKey(request, of: path) else {
            let fields = try PlainFields(try await newFields(request).json, of: section, isPatch: false)
            return try await write(fields, to: fields.uniqueID ?? newID(), .create, request, session)
        }
        let (json, hash) = try await newFields(request)
        let fields = try PlainFields(json, of: section, isPatch: false)
        return try await keysInUse.with(key, of: session.scope) {
            try await write(
                fields, to: fields.uniqueID ?? newID(), .create, request, session,
                idempotency: IdempotentRequest(key, bodyHash: hash))
        }
    }

    private func newID() -> UniqueID { .timeOrdered(at: backend.now()) }

    /// The fields of a new object, and the SHA-256 of the body.
    private func newFields(_ request: APIRequest) async throws -> (json: JSON, sha256: [UInt8]) {
        section == .notes
            ? try await request.noteFields(limit: Limits.pushBytes)
            : try await request.hashedJSON(limit: Limits.pushBytes)
    }

    private func put(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let fields = try PlainFields(try await request.json(limit: Limits.pushBytes), of: section, isPatch: false)
        guard fields.uniqueID == nil || fields.uniqueID == id else {
            throw Problem(.invalidField, "uniqueID must be the ID in the path.", at: "/uniqueID")
        }
        return try await write(fields, to: id, .put, request, session)
    }

    private func patch(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let fields = try PlainFields(try await request.json(limit: Limits.pushBytes), of: section, isPatch: true)
        return try await write(fields, to: id, .patch, request, session)
    }

    private enum Verb { case create, put, patch }

    private func write(
        _ fields: PlainFields, to id: UniqueID, _ verb: Verb, _ request: APIRequest, _ session: Session,
        idempotency: IdempotentRequest? = nil
    ) async throws -> Response {
        let (section, scope, now) = (section, session.scope, backend.now())
        let (ifMatch, ifNoneMatch) = (request[.ifMatch], request[.ifNoneMatch])
        let restriction = NoteRestriction(session)
        let applied = try await backend.scope(of: session).write(
            by: session.device.node, isWhole: true, bytes: fields.byteCount
        ) { transaction, _, stamp in
            if let idempotency, try idempotency.find(in: transaction, scope, at: now) { return Push() }
            let resolver = Resolver(snapshot: transaction, scope: scope)
            let state = try transaction.state(of: id, in: scope)
            var fields = fields
            try restriction?.apply(to: &fields, state, id, in: resolver)
            let live = try section.liveIfAny(state, id, named: fields.values[.name], in: resolver)
            try section.checkPreconditions(live, ifMatch: ifMatch, ifNoneMatch: ifNoneMatch, in: resolver)
            if live == nil, verb == .patch { throw Problem.notFound(id) }
            if live != nil, verb == .create {
                try idempotency?.record(id, isCreation: false, in: transaction, scope, at: now)
                return Push()
            }
            // If a tag is created without an ID and its name is taken, nothing is written, and the response contains the existing
            // tag.
            if section == .tags, live == nil, fields.uniqueID == nil, verb == .create,
                let tag = try resolver.tag(named: fields.values[.name], in: transaction)
            {
                try idempotency?.record(tag, isCreation: false, in: transaction, scope, at: now)
                return Push()
            }
            // The store may already contain edits of an object that was not created yet. The clocks of the new edits must be
            // greater than the clocks of these edits.
            var pending: Entity?
            if case .entity(let entity, _)? = state { pending = entity }
            let write = PlainWrite(
                id: id, section: section, fields: fields, isPatch: verb == .patch,
                hasRead: ifMatch != nil && ifMatch != "*",
                resolver: resolver)
            // If the push is refused, the transaction is rolled back, so the record of the idempotency key is not stored either.
            try idempotency?.record(id, isCreation: true, in: transaction, scope, at: now)
            return try write.push(live ?? pending, at: now, stamp: &stamp)
        }
        if let earlier = idempotency?.earlier { return try await response(repeating: earlier, fields, session) }
        return try await response(fields, id, isNew: applied.isNew(id), session)
    }

    /// The response to a write. It contains the stored object. If the request would create a tag, but a tag with this name exists
    /// already, the response contains the existing tag.
    private func response(
        _ fields: PlainFields, _ id: UniqueID, isNew: Bool, _ session: Session
    ) async throws -> Response {
        guard NoteRestriction(session)?.canRead != false else {
            return idOnly(id, isNew: isNew)
        }
        let (section, scope) = (section, session.scope)
        let (current, body) = try await backend.store.read { snapshot in
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            let current = try resolver.survivor(of: id, named: fields.values[.name], in: snapshot)
            let entity = try section.live(try snapshot.state(of: current, in: scope), current)
            return (current, try resolver.plain(entity))
        }
        if current != id { return response(body, status: .ok, headers: [.contentLocation: "\(path)/\(current)"]) }
        return isNew
            ? response(body, status: .created, headers: [.location: "\(path)/\(id)"]) : response(body, status: .ok)
    }

    /// The response to a repeated request. It has the status and the location of the first response, and contains the object as
    /// it is now.
    private func response(
        repeating record: IdempotencyRecord, _ fields: PlainFields, _ session: Session
    ) async throws -> Response {
        guard NoteRestriction(session)?.canRead != false else {
            return idOnly(record.object, isNew: record.isCreation, headers: [.idempotencyReplayed: "true"])
        }
        let (section, scope) = (section, session.scope)
        let (id, body) = try await backend.store.read { snapshot in
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            let id = try resolver.live(record.object) ?? record.object
            return (id, try resolver.plain(try section.live(try snapshot.state(of: id, in: scope), id)))
        }
        var headers: HTTPFields = [.idempotencyReplayed: "true"]
        if record.isCreation, id == record.object {
            headers[.location] = "\(path)/\(id)"
            return response(body, status: .created, headers: headers)
        }
        if id != fields.uniqueID { headers[.contentLocation] = "\(path)/\(id)" }
        return response(body, status: .ok, headers: headers)
    }

    /// The response to a write with a token that does not permit reading. It contains only the ID of the object.
    private func idOnly(_ id: UniqueID, isNew: Bool, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        if isNew { headers[.location] = "\(path)/\(id)" }
        return .object(status: isNew ? .created : .ok, headers: headers) { $0.member("uniqueID", id) }
    }

    private func delete(_ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let (section, scope, ifMatch) = (section, session.scope, request[.ifMatch])
        let restriction = NoteRestriction(session)
        _ = try await backend.scope(of: session).write(by: session.device.node, isWhole: true) {
            transaction, _, _ in
            let resolver = Resolver(snapshot: transaction, scope: scope)
            let state = try transaction.state(of: id, in: scope)
            try restriction?.check(state, id, in: resolver)
            switch state {
            case .entity(let entity, _)? where entity.exists && entity.section == section:
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
