import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/sync`: the one call a client needs (protocol.md, Sync).
struct Sync: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.post("/v1/sync", keeping: .never, use: sync)
    }

    private func sync(_ call: Call, _ session: Session) async throws -> Response {
        let request = try SyncRequest(try await call.json(limit: Limits.pushBytes))
        let feed = Feed(.all, limit: request.limit)
        let answer = FeedAnswer(backend: backend)
        guard !request.push.elements.isEmpty else {
            let page = try await backend.page(feed, since: request.token, session)
            return answer.changes(page, results: Array("[]".utf8))
        }
        let applied = try await backend.scope(of: session).apply(
            request.push, by: session.device.node, since: request.token, of: feed)
        let results = Receipt.json(applied.receipts)
        if applied.isAllEcho(since: request.token), !applied.receipts.contains(where: \.isDemanding) {
            return answer.changes(feed.emptyPage(after: applied, epoch: backend.epoch), results: results)
        }
        var echoless = feed
        echoless.echoes = applied.echoes
        let page = try await backend.page(
            echoless, since: request.token, session,
            demanding: applied.receipts.filter(\.isDemanding).compactMap(\.uniqueID), afterPush: true)
        return answer.changes(page, results: results)
    }
}

/// The body of a call of sync.
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
        default: throw fields.invalid("limit", "is a whole number from 1 to \(Limits.greatestPage)")
        }
        try fields.end()
    }
}

extension Receipt {
    /// Whether its object is in the answer whatever token and limit say: something else stands than what was sent.
    var isDemanding: Bool { status != .applied && status != .unchanged }

    static func json(_ receipts: [Receipt]) -> [UInt8] {
        var writer = JSONWriter(capacity: receipts.count * 160)
        writer.array { writer in
            for receipt in receipts { receipt.write(to: &writer) }
        }
        return writer.bytes
    }
}

extension Backend {
    /// A page of a feed, read in one snapshot; of nothing at all, if nothing changed since the token.
    /// - Parameters:
    ///   - demanded: objects that are on it, whatever token and limit say.
    ///   - afterPush: whether the scope has moved on since the session looked at it.
    func page(
        _ feed: Feed, since token: SyncToken?, _ session: Session, demanding demanded: [UniqueID] = [],
        afterPush: Bool = false
    ) async throws -> Page {
        if let token, !afterPush {
            try feed.check(token, epoch: epoch, head: session.head)
            if let page = feed.emptyPage(since: token, head: session.head) { return page }
        }
        let (scope, epoch) = (session.scope, epoch)
        return try await store.read { snapshot in
            try feed.page(since: token, of: scope, epoch: epoch, demanding: demanded, in: snapshot)
        }
    }
}
