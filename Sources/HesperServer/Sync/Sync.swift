import HesperModel
import HesperStore
import Hummingbird
import NIOPosix

/// `POST /v1/sync`: pushes changes and returns a page of the feed (protocol.md, Sync).
struct Sync: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.post("/v1/sync", cache: .never, tokens: .write, use: sync)
    }

    private func sync(_ request: APIRequest, _ session: Session) async throws -> Response {
        let body = try SyncRequest(try await request.json(limit: Limits.pushBytes))
        let feed = Feed(.all, limit: body.limit)
        guard !body.push.elements.isEmpty else {
            let feedResponse = FeedResponse(backend: backend, feed: feed, shape: .changes, results: Array("[]".utf8))
            let response = try await feedResponse.page(since: body.token, session)
            request.recordReadPosition(feed, since: body.token, session)
            return response
        }
        let applied = try await backend.scope(of: session).apply(
            body.push, by: session.device.node, since: body.token, of: feed
        ) { inputs in
            try await backend.merges.withPermit(session.scope) {
                try await NIOThreadPool.singleton.runIfActive { inputs.map(\.outcome) }
            }
        }
        request.recordReadPosition(feed, since: body.token, session)
        var echoless = feed
        echoless.echoes = applied.echoes
        let response = FeedResponse(
            backend: backend, feed: echoless, shape: .changes, results: Receipt.json(applied.receipts))
        let changed = applied.receipts.filter(\.needsObject)
        if changed.isEmpty, applied.isAllEcho(since: body.token) {
            return response.empty(feed.emptyPage(at: applied.after, epoch: backend.epoch))
        }
        return try await response.page(
            since: body.token, session,
            including: changed.flatMap { [$0.uniqueID, $0.rescuedInto].compactMap(\.self) },
            afterPush: true)
    }
}

/// The body of `POST /v1/sync`.
struct SyncRequest {
    var token: SyncToken?
    var push = Push()
    var limit = Limits.defaultPage

    init(_ json: JSON) throws(Problem) {
        var fields = try Fields(json)
        if let text = try fields.optionalString("syncToken") {
            guard let token = SyncToken(text) else { throw Problem.invalidToken(at: "/syncToken") }
            self.token = token
        }
        if let changes = fields.value("changes") { push = try PushReader.read(changes) }
        switch fields.value("limit") {
        case nil: break
        case .integer(let value)? where value >= 1: limit = Int(clamping: value)
        default: throw fields.invalid("limit", "must be a whole number from 1 to \(Limits.greatestPage)")
        }
        try fields.end()
    }
}

extension Receipt {
    /// Whether the response must contain the object, because its state differs from what was pushed. If so, the response contains
    /// the object even if the token or the limit would exclude it.
    var needsObject: Bool { status != .applied && status != .unchanged }

    static func json(_ receipts: [Receipt]) -> [UInt8] {
        var writer = JSONWriter(capacity: receipts.count * 160)
        writer.array { writer in
            for receipt in receipts { receipt.write(to: &writer) }
        }
        return writer.bytes
    }
}
