import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/notes`: with `sort` a list of notes, otherwise the feed of their changes (protocol.md, Lists for scripts).
struct NoteList: Resource {
    let changes: Changes
    let search: SearchNotes

    func add(to routes: inout Routes) {
        routes.get(
            "/v1/notes", ["since", "limit", "sort", "order", "tag", "archived", "cursor"], tokens: .readTagged, use: get
        )
    }

    private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        guard let sort = request.query["sort"] else { return try await feed(request, session) }
        guard sort == "sortDate" else { throw Problem(.invalidField, "sort must be sortDate.", at: "sort") }
        guard request.query["since"] == nil else {
            throw Problem(
                .invalidField, "since cannot be used with sort. Send the nextCursor of a list as cursor.", at: "since")
        }
        let page = try await search.page(for: request, session, query: SearchQuery(""), order: try order(request)) {
            resolver, note, writer in writer.raw(try resolver.plain(.note(note)))
        }
        return page.response(to: request, named: "notes")
    }

    private func feed(_ request: APIRequest, _ session: Session) async throws -> Response {
        // Without `sort`, the route is not for tokens that are restricted to a tag.
        try session.device.access?.check(.read)
        for name in ["order", "tag", "archived", "cursor"] where request.query[name] != nil {
            throw Problem(
                .invalidField, "\(name) can only be used with sort. Without sort, the response is a feed of changes.",
                at: name)
        }
        return try await changes.feed(.notes, .notes, request, session)
    }

    private func order(_ request: APIRequest) throws(Problem) -> Search.Order {
        switch request.query["order"] {
        case nil, "desc"?: .newest
        case "asc"?: .oldest
        default: throw Problem(.invalidField, "order must be asc or desc.", at: "order")
        }
    }
}
