import HesperModel
import HesperStore
import Hummingbird
import NIOPosix

/// `POST /v1/sync`: the one call a client needs (protocol.md, Sync).
struct Sync: Resource {
    let backend: Backend

    func add(to routes: inout Routes) {
        routes.post("/v1/sync", keeping: .never, use: sync)
    }

    private func sync(_ call: Call, _ session: Session) async throws -> Response {
        let request = try SyncRequest(try await call.json(limit: Limits.pushBytes))
        let feed = Feed(.all, limit: request.limit)
        guard !request.push.elements.isEmpty else {
            let answer = FeedAnswer(backend: backend, feed: feed, shape: .changes, results: Array("[]".utf8))
            let response = try await answer.page(since: request.token, session)
            call.hasRead(feed, since: request.token, session)
            return response
        }
        let applied = try await backend.scope(of: session).apply(
            request.push, by: session.device.node, since: request.token, of: feed
        ) { inputs in
            try await backend.merges.withPermit(session.scope) {
                try await NIOThreadPool.singleton.runIfActive { inputs.map(\.outcome) }
            }
        }
        call.hasRead(feed, since: request.token, session)
        var echoless = feed
        echoless.echoes = applied.echoes
        let answer = FeedAnswer(
            backend: backend, feed: echoless, shape: .changes, results: Receipt.json(applied.receipts))
        let demanded = applied.receipts.filter(\.isDemanding)
        if demanded.isEmpty, applied.isAllEcho(since: request.token) {
            return answer.empty(feed.emptyPage(at: applied.after, epoch: backend.epoch))
        }
        return try await answer.page(
            since: request.token, session,
            including: demanded.flatMap { [$0.uniqueID, $0.rescuedInto].compactMap(\.self) },
            afterPush: true)
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
