import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/deleted-objects`, Vesper's call: upload the DeletedObjects made here, get the corresponding list back.
struct DeletedObjects: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.post("/v1/deleted-objects", ["since"], keeping: .never, use: upload)
    }

    private func upload(_ call: Call, _ session: Session) async throws -> Response {
        var fields = try Fields(try await call.json(limit: Limits.pushBytes))
        guard let list = fields.value("deletedObjects") else { throw fields.invalid("deletedObjects", "is missing") }
        try fields.end()
        let push = try PushReader.read(.object(JSONObject([("deletedObjects", list)])), at: "")
        let token = try call.token()
        let feed = Feed(.deletedObjects)
        let applied = try await backend.scope(of: session).apply(
            push, by: session.device.node, since: token, of: feed)
        let answer = FeedAnswer(
            backend: backend, feed: feed, shape: .section(nil), results: Receipt.json(applied.receipts))
        return try await answer.page(
            since: token, session, including: applied.receipts.filter(\.isDemanding).compactMap(\.uniqueID),
            afterPush: true)
    }
}
