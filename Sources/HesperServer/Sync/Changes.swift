import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/changes` and the feeds of one kind: what changed since a token (protocol.md, Resources).
struct Changes: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.get("/v1/changes", ["since", "limit", "objectTypes"], use: changes)
        routes.get("/v1/notes", ["since", "limit"]) { try await feed(.notes, .notes, $0, $1) }
        routes.get("/v1/tags", ["since", "limit"]) { try await feed(.tags, .tags, $0, $1) }
        routes.get("/v1/attachments", ["since", "limit"]) { try await feed(.attachments, .attachments, $0, $1) }
        routes.get("/v1/objects", ["since", "limit"]) { try await feed(.objects, .objects, $0, $1) }
        routes.get("/v1/deleted-objects", ["since", "limit"]) { try await feed(nil, .deletedObjects, $0, $1) }
    }

    private func changes(_ call: Call, _ session: Session) async throws -> Response {
        let feed = Feed(try selection(call), limit: try call.limit())
        return try await page(FeedAnswer(backend: backend, feed: feed, shape: .changes), call, session)
    }

    private func feed(
        _ section: Section?, _ selection: Selection, _ call: Call, _ session: Session
    ) async throws -> Response {
        let feed = Feed(selection, limit: try call.limit())
        return try await page(FeedAnswer(backend: backend, feed: feed, shape: .section(section)), call, session)
    }

    private func page(_ answer: FeedAnswer, _ call: Call, _ session: Session) async throws -> Response {
        let token = try call.token()
        let response = try await answer.page(since: token, session)
        call.hasRead(answer.feed, since: token, session)
        return response
    }

    /// The types asked for: names with commas between.
    private func selection(_ call: Call) throws(Problem) -> Selection {
        guard let text = call.query["objectTypes"] else { return .all }
        var types: Set<ObjectType> = []
        for name in text.split(separator: ",", maxSplits: 32, omittingEmptySubsequences: false) {
            guard let type = ObjectType(String(name)) else {
                throw Problem(
                    .invalidField, "objectTypes is a list such as note,tag,board: 32 types at most.", at: "objectTypes")
            }
            types.insert(type)
        }
        return .types(types)
    }
}
