import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/deleted-objects`, a route for apps that exchange deletions in a separate request: stores the DeletedObjects that a
/// device uploads, and returns the DeletedObjects that were stored since a sync token.
struct DeletedObjects: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.post("/v1/deleted-objects", ["since"], cache: .never, tokens: .write, use: upload)
    }

    private func upload(_ request: APIRequest, _ session: Session) async throws -> Response {
        var fields = try Fields(try await request.json(limit: Limits.pushBytes))
        guard let list = fields.value("deletedObjects") else { throw fields.invalid("deletedObjects", "is missing") }
        try fields.end()
        let push = try PushReader.read(.object(JSONObject([("deletedObjects", list)])), at: "")
        let token = try request.token()
        let feed = Feed(.deletedObjects)
        let applied = try await backend.scope(of: session).apply(
            push, by: session.device.node, since: token, of: feed)
        let response = FeedResponse(
            backend: backend, feed: feed, shape: .section(nil), results: Receipt.json(applied.receipts))
        return try await response.page(
            since: token, session, including: applied.receipts.filter(\.needsObject).compactMap(\.uniqueID),
            afterPush: true)
    }
}
