import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/tags`: with `name` the tag that has the name, otherwise the feed of changes of tags (protocol.md, Lists for
/// scripts).
struct TagList: Resource {
    let backend: Backend
    let changes: Changes

    func add(to routes: inout Routes) {
        routes.get("/v1/tags", ["since", "limit", "name"], tokens: .readTagged, use: get)
    }

    private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        if let name = request.query["name"] { return try await named(name, request, session) }
        // Without `name`, a token that is restricted to a tag cannot use this route.
        try session.device.access?.check(.read)
        guard request.prefersArray else {
            var response = try await changes.feed(.tags, .tags, request, session)
            response.headers[.vary] = "Prefer"
            return response
        }
        let feed = FeedResponse(backend: backend, feed: Feed(.tags, limit: try request.limit()), shape: .section(.tags))
        return try await feed.list(since: try request.token(), session).arrayResponse(to: request)
    }

    // MARK: A tag by its name

    private func named(_ name: String, _ request: APIRequest, _ session: Session) async throws -> Response {
        guard request.query["since"] == nil else {
            throw Problem(.invalidField, "since cannot be used with name.", at: "since")
        }
        guard !name.utf8.contains(0) else { throw Problem(.invalidField, "name must not contain NUL.", at: "name") }
        let limit = try request.limit()
        let tag = try await tag(named: name, session)
        guard !request.prefersArray else {
            return ListPage(array: [UInt8(ascii: "[")] + (tag ?? []) + [UInt8(ascii: "]")]).arrayResponse(to: request)
        }
        // The response has the form of a page of the feed, but contains at most one tag. A client that continued a feed with the
        // sync token of this response would miss all other tags. The token is therefore for a feed without any object types
        // (`.types([])`), and every real feed refuses it.
        let feed = Feed(.types([]), limit: limit)
        var response = FeedResponse(backend: backend, feed: feed, shape: .section(.tags)).response(
            feed.emptyPage(at: session.head, epoch: backend.epoch), with: tag.map { [($0, .tags)] } ?? [])
        response.headers[.vary] = "Prefer"
        return response
    }

    /// The JSON of the live tag with a name; nil if there is none, or if the access token is restricted to another tag.
    private func tag(named name: String, _ session: Session) async throws -> [UInt8]? {
        let (scope, restriction) = (session.scope, NoteRestriction(session))
        return try await backend.store.read { snapshot in
            let own = try restriction?.tag(in: Resolver(snapshot: snapshot, scope: scope))
            guard let id = try snapshot.tag(named: TagName.fold(name), in: scope), own == nil || own == id,
                case .entity(let tag, _)? = try snapshot.state(of: id, in: scope)
            else { return nil }
            return tag.body
        }
    }
}

extension FeedResponse {
    /// The objects of a page of the feed of one section. DeletedObjects are left out.
    func list(since token: SyncToken?, _ session: Session) async throws -> ListPage {
        if let token { try feed.check(token, epoch: backend.epoch, head: session.head) }
        let (feed, epoch, scope) = (feed, backend.epoch, session.scope)
        return try await backend.store.read { snapshot in
            var objects = ObjectArray()
            let page = try feed.page(since: token, of: scope, epoch: epoch, in: snapshot, into: &objects)
            return ListPage(
                array: objects.bytes + [UInt8(ascii: "]")], next: page.hasMore ? ("since", page.token.text) : nil)
        }
    }
}

/// Collects the objects of a page as a JSON array, without the closing bracket.
private struct ObjectArray: PageSink {
    private(set) var bytes = [UInt8(ascii: "[")]

    mutating func append(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind) {
        guard case .object = kind else { return }
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: body)
    }
}
