import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// Sends pages of feeds. Stored bodies are copied, never parsed, and are sent while the store reads more.
struct FeedResponse: Sendable {
    /// The layout of the response.
    enum Shape: Sendable {
        /// All lists under `changes`: sync and changes.
        case changes
        /// The list of one section, and the DeletedObjects that its reader needs; without a section, only DeletedObjects.
        case section(Section?)
    }

    let backend: Backend
    let feed: Feed
    let shape: Shape
    /// The receipts of a push as JSON, if there was one.
    var results: [UInt8]?

    /// The page after a token.
    /// - Parameters:
    ///   - included: objects that are on the page, whatever the token and the limit.
    ///   - afterPush: whether the scope has changed since the session was looked up.
    func page(
        since token: SyncToken?, _ session: Session, including included: [UniqueID] = [], afterPush: Bool = false
    ) async throws -> Response {
        if let token, !afterPush {
            try feed.check(token, epoch: backend.epoch, head: session.head)
            if let page = feed.emptyPage(since: token, head: session.head) { return empty(page) }
        }
        let (chunks, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        let (response, scope) = (self, session.scope)
        // The store's snapshot ends when the page is read, even if the client reads slowly: the unsent part, at most a page, is
        // buffered.
        Task {
            do {
                try await backend.store.read { snapshot in
                    try response.write(since: token, of: scope, including: included, in: snapshot) {
                        continuation.yield($0)
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return try await FeedResponse.response(chunks)
    }

    /// Writes the page chunk by chunk.
    private func write(
        since token: SyncToken?, of scope: ScopeID, including included: [UniqueID] = [], in snapshot: any Snapshot,
        _ send: @escaping (ByteBuffer) -> Void
    ) throws {
        var body = FeedBody(shape, results: results, send: send)
        let page = try feed.page(
            since: token, of: scope, epoch: backend.epoch, including: included, in: snapshot, into: &body)
        body.end { writeTail(of: page, to: &$0) }
    }

    /// A page without objects.
    func empty(_ page: Page) -> Response {
        var buffer = ByteBuffer()
        var body = FeedBody(shape, results: results) { buffer.writeImmutableBuffer($0) }
        body.end { writeTail(of: page, to: &$0) }
        return FeedResponse.json(buffer)
    }

    private static func json(_ body: ByteBuffer) -> Response {
        Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }

    /// A short page has a `Content-Length`. The first chunks of a long page are sent while the last are being read.
    private static func response(_ chunks: AsyncThrowingStream<ByteBuffer, any Error>) async throws -> Response {
        var iterator = chunks.makeAsyncIterator()
        let first = try await iterator.next() ?? ByteBuffer()
        guard let second = try await iterator.next() else { return json(first) }
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
            // The digest covers everything, so it is sent only after the last page of an unfiltered feed.
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
        // The object is open: these are further members of it.
        buffer.writeStaticString(",")
        buffer.writeBytes(writer.bytes.dropFirst())
    }
}

extension APIRequest {
    /// A sync token in the query.
    func token(_ name: String = "since") throws(Problem) -> SyncToken? {
        guard let text = query[name] else { return nil }
        guard let token = SyncToken(text) else { throw Problem.invalidToken(at: name) }
        return token
    }

    /// Sets how far the device has read, to be recorded with this use of the device, if that is due.
    func recordReadPosition(_ feed: Feed, since token: SyncToken?, _ session: Session) {
        guard let use, feed.selection.hasNotes else { return }
        use.readSequence = token?.sequence ?? session.head.sequence
    }

    /// The maximum number of objects on a page. Larger values are clamped.
    func limit() throws(Problem) -> Int {
        try query.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
    }
}

extension Problem {
    static func invalidToken(at pointer: String) -> Problem {
        Problem(.invalidField, "A token must be the syncToken of an earlier response, unchanged.", at: pointer)
    }
}
