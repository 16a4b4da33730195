import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/notes/{uniqueID}/append` and `/prepend`: add text to a note. The addition is an edit that is based on the current text,
/// so it merges with edits that devices make at the same time (protocol.md, Capturing).
struct NoteAdditions: Resource {
    let backend: Backend
    private let keysInUse = IdempotencyKeysInUse()

    init(backend: Backend) { self.backend = backend }

    /// Where the text is added.
    private enum Place: String {
        case append
        /// The text is added after the first line, which is the title of the note.
        case prepend

        func add(_ addition: String, to text: String) -> String {
            guard !text.isEmpty else { return addition }
            switch self {
            case .append: return text.utf8.last == Place.lineFeed ? text + addition : text + "\n" + addition
            case .prepend:
                guard let end = text.utf8.firstIndex(of: Place.lineFeed) else { return text + "\n" + addition }
                let rest = text[text.utf8.index(after: end)...]
                let separator = addition.utf8.last == Place.lineFeed || rest.isEmpty ? "" : "\n"
                return text[...end] + addition + separator + rest
            }
        }

        private static let lineFeed = UInt8(ascii: "\n")
    }

    func add(to routes: inout Routes) {
        for place in [Place.append, .prepend] {
            routes.post("/v1/notes/{uniqueID}/\(place)", tokens: .appendTagged) { request, session in
                try await add(at: place, request, session)
            }
        }
    }

    private func add(at place: Place, _ request: APIRequest, _ session: Session) async throws -> Response {
        let id = try request.uniqueID()
        let key = try IdempotencyKey(request, of: "/v1/notes/\(id)/\(place)")
        let (json, hash) = try await request.noteFields(limit: Limits.pushBytes)
        var fields = try Fields(json)
        let addition = try fields.string("text")
        try fields.end()
        guard let key else { return try await write(addition, at: place, id, session) }
        return try await keysInUse.with(key, of: session.scope) {
            try await write(addition, at: place, id, session, IdempotentRequest(key, bodyHash: hash))
        }
    }

    private func write(
        _ addition: String, at place: Place, _ id: UniqueID, _ session: Session, _ idempotency: IdempotentRequest? = nil
    ) async throws -> Response {
        let (scope, now, restriction) = (session.scope, backend.now(), NoteRestriction(session))
        _ = try await backend.scope(of: session).write(
            by: session.device.node, isWhole: true, bytes: addition.utf8.count
        ) { transaction, _, stamp in
            if let idempotency, try idempotency.find(in: transaction, scope, at: now) { return Push() }
            let resolver = Resolver(snapshot: transaction, scope: scope)
            let state = try transaction.state(of: id, in: scope)
            try restriction?.check(state, id, in: resolver)
            let entity = try Section.notes.live(state, id)
            guard case .note(let note) = entity else { throw Problem.notFound(id) }
            let value: Value
            switch FieldValue.text(.string(place.add(addition, to: note.text))) {
            case .success(let text): value = text
            case .failure(let error):
                throw Problem(
                    .invalidField, "The text of the note with the addition \(error.requirement).", at: "/text")
            }
            try idempotency?.record(id, isCreation: false, in: transaction, scope, at: now)
            let write = PlainWrite(
                id: id, section: .notes, fields: PlainFields(values: [.text: value]), isPatch: true, hasRead: true,
                resolver: resolver)
            return try write.push(entity, at: now, stamp: &stamp)
        }
        let headers: HTTPFields = idempotency?.earlier == nil ? [:] : [.idempotencyReplayed: "true"]
        guard restriction?.canRead != false else {
            return .object(headers: headers) { $0.member("uniqueID", id) }
        }
        let body = try await backend.store.read { snapshot in
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            return try resolver.plain(try Section.notes.live(try snapshot.state(of: id, in: scope), id))
        }
        return .json(body, headers: headers.withTag(of: body))
    }
}

extension HTTPFields {
    fileprivate func withTag(of body: [UInt8]) -> HTTPFields {
        var fields = self
        fields[.eTag] = ETag(of: body).text
        return fields
    }
}
