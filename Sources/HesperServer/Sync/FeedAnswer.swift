import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// Answers pages of feeds: bodies are copied, never parsed, and sent on while the store reads more.
struct FeedAnswer: Sendable {
    /// How the answer is laid out.
    enum Shape: Sendable {
        /// All lists under `changes`: sync and changes.
        case changes
        /// One section's list and the DeletedObjects that its reader needs; without a section these alone.
        case section(Section?)
    }

    let backend: Backend
    let feed: Feed
    let shape: Shape
    /// JSON of the receipts of a push, if there was one.
    var results: [UInt8]?

    /// The page after a token.
    /// - Parameters:
    ///   - demanded: objects that are on it, whatever token and limit say.
    ///   - afterPush: whether the scope has moved on since the session looked at it.
    func page(
        since token: SyncToken?, _ session: Session, including demanded: [UniqueID] = [], afterPush: Bool = false
    ) async throws -> Response {
        if let token, !afterPush {
            try feed.check(token, epoch: backend.epoch, head: session.head)
            if let page = feed.emptyPage(since: token, head: session.head) { return empty(page) }
        }
        let (chunks, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        let (answer, scope) = (self, session.scope)
        // The store's snapshot is over when the page is read, however slowly the client takes it: what is not sent yet is
        // kept, a page at most.
        Task {
            do {
                try await backend.store.read { snapshot in
                    try answer.write(since: token, of: scope, including: demanded, in: snapshot) {
                        continuation.yield($0)
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return try await FeedAnswer.response(chunks)
    }

    /// Writes the whole page, chunk by chunk.
    private func write(
        since token: SyncToken?, of scope: ScopeID, including demanded: [UniqueID] = [], in snapshot: any Snapshot,
        _ send: @escaping (ByteBuffer) -> Void
    ) throws {
        var body = FeedBody(shape, results: results, send: send)
        let page = try feed.page(
            since: token, of: scope, epoch: backend.epoch, including: demanded, in: snapshot, into: &body)
        body.end { writeTail(of: page, to: &$0) }
    }

    /// A page without an object on it.
    func empty(_ page: Page) -> Response {
        var whole = ByteBuffer()
        var body = FeedBody(shape, results: results) { whole.writeImmutableBuffer($0) }
        body.end { writeTail(of: page, to: &$0) }
        return FeedAnswer.whole(whole)
    }

    private static func whole(_ body: ByteBuffer) -> Response {
        Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }

    /// A short page has its length told; of a long one the first chunks go out while the last are being read.
    private static func response(_ chunks: AsyncThrowingStream<ByteBuffer, any Error>) async throws -> Response {
        var iterator = chunks.makeAsyncIterator()
        let first = try await iterator.next() ?? ByteBuffer()
        guard let second = try await iterator.next() else { return whole(first) }
        let body = ResponseBody { writer in
            try await writer.write(first)
            try await writer.write(second)
            for try await chunk in chunks { try await writer.write(chunk) }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/json"], body: body)
    }

    func writeTail(of page: Page, to buffer: inout ByteBuffer) {
        var writer = JSONWriter(capacity: 384)
        writer.object { writer in
            // The digest is of everything, so it is told where everything was asked for and has been sent.
            if case .changes = shape, !page.hasMore, feed.selection == .all {
                writer.member("digest", page.head.digest.description)
            }
            writer.member("syncToken", page.token.text)
            writer.member("hasMore", page.hasMore)
            writer.name("remaining")
            writer.object { writer in
                writer.member("objects", Int64(page.remaining.objects))
                writer.member("bytes", Int64(page.remaining.bytes))
            }
            if let clock = backend.serverClock { writer.member("serverClock", clock) }
        }
        // The object is open already: these are more members of it.
        buffer.writeStaticString(",")
        buffer.writeBytes(writer.bytes.dropFirst())
    }
}

extension Call {
    /// A token among the parameters.
    func token(_ name: String = "since") throws(Problem) -> SyncToken? {
        guard let text = query[name] else { return nil }
        guard let token = SyncToken(text) else { throw Problem.invalidToken(at: name) }
        return token
    }

    /// Has the store hear, if it has to, how far the device had read that is answered now.
    func hasRead(_ feed: Feed, since token: SyncToken?, _ session: Session) {
        guard let use, feed.selection.hasNotes else { return }
        use.readSequence = token?.sequence ?? session.head.sequence
    }

    /// The size of a page; larger ones are clamped.
    func limit() throws(Problem) -> Int {
        try query.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
    }
}

extension Problem {
    static func invalidToken(at pointer: String) -> Problem {
        Problem(.invalidField, "A token is what an earlier answer gave as syncToken, unchanged.", at: pointer)
    }
}
