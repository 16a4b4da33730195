import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/changes`, and the feeds of a single kind of object, such as `GET /v1/objects`. They return the changes since a sync
/// token (protocol.md, Resources). The routes of the feeds of notes and tags are in ``NoteList`` and ``TagList``.
struct Changes: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.get("/v1/changes", ["since", "limit", "objectTypes"], tokens: .read, use: changes)
        routes.get("/v1/attachments", ["since", "limit"], tokens: .read) {
            try await feed(.attachments, .attachments, $0, $1)
        }
        routes.get("/v1/objects", ["since", "limit"], tokens: .read) { try await feed(.objects, .objects, $0, $1) }
        routes.get("/v1/deleted-objects", ["since", "limit"], tokens: .read) {
            try await feed(nil, .deletedObjects, $0, $1)
        }
    }

    private func changes(_ request: APIRequest, _ session: Session) async throws -> Response {
        let feed = Feed(try selection(request), limit: try request.limit())
        return try await page(FeedResponse(backend: backend, feed: feed, shape: .changes), request, session)
    }

    func feed(
        _ section: Section?, _ selection: Selection, _ request: APIRequest, _ session: Session
    ) async throws -> Response {
        let feed = Feed(selection, limit: try request.limit())
        return try await page(FeedResponse(backend: backend, feed: feed, shape: .section(section)), request, session)
    }

    private func page(_ feedResponse: FeedResponse, _ request: APIRequest, _ session: Session) async throws -> Response
    {
        let token = try request.token()
        let response = try await feedResponse.page(since: token, session)
        request.recordReadPosition(feedResponse.feed, since: token, session)
        return response
    }

    /// The object types in the query parameter `objectTypes`, a list of names that are separated by commas. All types if the
    /// parameter was not sent.
    private func selection(_ request: APIRequest) throws(Problem) -> Selection {
        guard let text = request.query["objectTypes"] else { return .all }
        var types: Set<ObjectType> = []
        for name in text.split(separator: ",", maxSplits: 32, omittingEmptySubsequences: false) {
            guard let type = ObjectType(String(name)) else {
                throw Problem(
                    .invalidField, "objectTypes must be a list such as note,tag,board, of at most 32 types.",
                    at: "objectTypes")
            }
            types.insert(type)
        }
        return .types(types)
    }
}
