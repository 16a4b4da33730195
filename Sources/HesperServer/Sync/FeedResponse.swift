import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// Creates responses with a page of a feed. The stored JSON of objects is copied without being parsed, and is sent while the
/// store reads more objects.
struct FeedResponse: Sendable {
    /// The layout of the response.
    enum Shape: Hashable {
        /// The member `changes` contains one list for each kind of object, as in `POST /v1/sync` and `GET /v1/changes`.
        case changes
        /// The response contains the list of one section, and the list of the DeletedObjects that the feed includes
        /// (``Selection/deletedTypes``). If the section is nil, the response contains only DeletedObjects.
        case section(Section?)
    }

    let backend: Backend
    let feed: Feed
    let shape: Shape
    /// The receipts of a push as a JSON array; nil if the response has no receipts.
    var results: [UInt8]?

    /// The response with the page of changes after a token, or with the first page if the token is nil.
    /// - Parameters:
    ///   - included: objects that the page contains even if the token or the limit would exclude them.
    ///   - afterPush: whether this request has applied a push. The state of the scope in `session` is then outdated, and is not
    ///     used.
    func page(
        since token: SyncToken?, _ session: Session, including included: [UniqueID] = [], afterPush: Bool = false
    ) async throws -> Response {
        guard !afterPush else {
            return try await response(reading(since: token, of: session.scope, including: included), since: token)
        }
        if let token {
            try feed.check(token, epoch: backend.epoch, head: session.head)
            if let page = feed.emptyPage(since: token, head: session.head) { return empty(page) }
            // If the prefetch has failed, the page is read again.
            if let prefetched = backend.prefetch.take(prefetchKey(token), head: session.head),
                let response = try? await response(prefetched, since: token)
            {
                prefetchPage(after: prefetched)
                return response
            }
        }
        let reading = reading(since: token, of: session.scope)
        prefetchPage(after: reading)
        return try await response(reading, since: token)
    }

    /// Starts to read a page.
    /// - Parameter head: if not nil, reading fails if the scope has another head.
    private func reading(
        since token: SyncToken?, of scope: ScopeID, including included: [UniqueID] = [], head: ScopeHead? = nil
    ) -> PageReading {
        let count = FeedCount { [feed, store = backend.store] in
            try await store.read { try feed.size(since: token, of: scope, in: $0) }
        }
        return PageReading(count) { send in
            try await backend.store.read { snapshot in
                if let head, try snapshot.head(of: scope) != head { throw CancellationError() }
                var body = FeedBody(shape, results: results) { chunk in
                    // A page of more than one chunk is probably not the last one. What remains after a prefetched page follows
                    // from the token with which it is requested.
                    if token?.remaining == nil, head == nil { count.start() }
                    send(chunk)
                }
                let page = try feed.page(
                    since: token, of: scope, epoch: backend.epoch, including: included, in: snapshot, into: &body)
                return (body.end(), page)
            }
        }
    }

    /// When a page has been read, starts to read the next page, because the client will probably request it.
    private func prefetchPage(after reading: PageReading) {
        Task {
            let page = try await reading.page
            guard page.hasMore, page.size.bytes >= PagePrefetch.minimumBytes else { return }
            backend.prefetch.add(prefetchKey(page.token), head: page.head) {
                self.reading(since: page.token, of: page.head.scope, head: page.head)
            }
        }
    }

    private func prefetchKey(_ token: SyncToken) -> PagePrefetch.Key {
        PagePrefetch.Key(
            token: token, selection: feed.selection, limit: feed.limit, shape: shape, hasResults: results != nil)
    }

    /// The response with a page that contains no objects.
    func empty(_ page: Page) -> Response { response(page, with: []) }

    /// The response with a page that contains only these objects, each as its JSON and its section.
    func response(_ page: Page, with objects: [(body: [UInt8], section: Section)]) -> Response {
        var buffer = ByteBuffer()
        var body = FeedBody(shape, results: results) { buffer.writeImmutableBuffer($0) }
        for object in objects {
            object.body.withUnsafeBytes { body.append($0, .object(object.section)) }
        }
        var last = body.end()
        writeTail(of: page, to: &last)
        buffer.writeImmutableBuffer(last)
        return FeedResponse.json(buffer)
    }

    private static func json(_ body: ByteBuffer) -> Response {
        Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: body))
    }

    /// The response with a page that is being read. If there is only one chunk, the response has a `Content-Length`. Otherwise the
    /// first chunks are sent while later chunks are still being read.
    private func response(_ reading: PageReading, since token: SyncToken?) async throws -> Response {
        var iterator = reading.parts.makeAsyncIterator()
        switch try await iterator.next() {
        case nil: throw CancellationError()
        case .end(var last, var page)?:
            try await count(&page, of: reading, since: token)
            writeTail(of: page, to: &last)
            return FeedResponse.json(last)
        case .chunk(let first)?:
            let body = ResponseBody { writer in
                try await writer.write(first)
                for try await part in reading.parts {
                    switch part {
                    case .chunk(let chunk): try await writer.write(chunk)
                    case .end(let last, var page):
                        try await count(&page, of: reading, since: token)
                        // A buffer of its own, because adding to the last chunk would copy it.
                        var tail = ByteBuffer()
                        writeTail(of: page, to: &tail)
                        try await writer.write(last)
                        try await writer.write(tail)
                        return try await writer.finish(nil)
                    }
                }
                // If the task is cancelled, the parts end early. Without an error, an incomplete response would seem complete.
                throw CancellationError()
            }
            return Response(status: .ok, headers: [.contentType: "application/json"], body: body)
        }
    }

    /// Sets what remains after a page.
    private func count(_ page: inout Page, of reading: PageReading, since token: SyncToken?) async throws {
        guard page.hasMore else { return }
        let total = if let known = token?.remaining { known } else { try await reading.count.value }
        page.count(in: total)
    }

    func writeTail(of page: Page, to buffer: inout ByteBuffer) {
        var writer = JSONWriter(capacity: 384)
        writer.object { writer in
            // The digest covers all objects of the scope, so it is sent only after the last page of an unfiltered feed.
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
        // `buffer` ends inside a JSON object. The members from `writer` are added to this object, so the opening brace in `writer`
        // is left out.
        buffer.writeStaticString(",")
        buffer.writeBytes(writer.bytes.dropFirst())
    }
}

extension APIRequest {
    /// The sync token in a query parameter; nil if the parameter was not sent.
    func token(_ name: String = "since") throws(Problem) -> SyncToken? {
        guard let text = query[name] else { return nil }
        guard let token = SyncToken(text) else { throw Problem.invalidToken(at: name) }
        return token
    }

    /// Records the sequence up to which the device has read notes, in ``DeviceUse/readSequence``. Does nothing if the use of the
    /// device need not be recorded, or if the feed contains no notes.
    func recordReadPosition(_ feed: Feed, since token: SyncToken?, _ session: Session) {
        guard let use, feed.selection.hasNotes else { return }
        use.readSequence = token?.sequence ?? session.head.sequence
    }

    /// The maximum number of objects on a page, from the query parameter `limit`. A value above the allowed maximum is replaced
    /// by the allowed maximum.
    func limit() throws(Problem) -> Int {
        try query.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
    }
}

extension Problem {
    static func invalidToken(at pointer: String) -> Problem {
        Problem(.invalidField, "A token must be the syncToken of an earlier response, unchanged.", at: pointer)
    }
}
