import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

/// A page of changes, encoded as an event.
struct EventPage: Sendable {
    let chunks: [ByteBuffer]
    /// The sync token after the page. It is also the ID of the event.
    let token: SyncToken
}

/// Reads and encodes pages of changes for event streams. If several streams of a scope wait at the same sync token, the page is
/// read and encoded once and shared.
final class EventPages: Sendable {
    private let backend: Backend
    private let feed = Feed(.all, bytes: Limits.eventBytes)
    /// The maximum number of pages per scope in the cache, including pages that are being read. One page is not enough, because
    /// slow readers need other pages than fast readers.
    private static let pagesPerScope = 4

    private struct Entry {
        let token: SyncToken
        let sequence: Int64
        let page: Task<EventPage, any Error>
    }

    private let recent = NIOLockedValueBox<[ScopeID: [Entry]]>([:])

    init(backend: Backend) { self.backend = backend }

    /// The page of changes after a token, from the cache if possible.
    /// - Parameter sequence: the highest known sequence of the scope. A cached page is used only if it was requested with the same
    ///   sequence.
    func page(after token: SyncToken, upTo sequence: Int64) async throws -> EventPage {
        let page = recent.withLockedValue { recent in
            var entries = recent[token.scope] ?? []
            if let entry = entries.last(where: { $0.token == token && $0.sequence == sequence }) { return entry.page }
            if entries.count == EventPages.pagesPerScope { entries.removeFirst() }
            let page = Task { try await read(after: token) }
            entries.append(Entry(token: token, sequence: sequence, page: page))
            recent[token.scope] = entries
            return page
        }
        return try await page.value
    }

    /// The first page of a stream that starts without a token. The page contains no changes. Its token is the position after which
    /// the stream sends changes.
    func empty(at head: ScopeHead) -> EventPage {
        let page = feed.emptyPage(at: head, epoch: backend.epoch)
        let builder = EventPageBuilder()
        var body = builder.body()
        var last = body.end()
        response.writeTail(of: page, to: &last)
        return builder.page(last, page.token)
    }

    /// The sync token that stands for a scope's current state.
    func token(at head: ScopeHead) -> SyncToken { feed.emptyPage(at: head, epoch: backend.epoch).token }

    /// Checks that a stream may start at a token: the token must be from a complete sync without a filter.
    func check(_ token: SyncToken, head: ScopeHead) throws(Problem) {
        try feed.check(token, epoch: backend.epoch, head: head)
        guard case .after = token.position else {
            throw Problem(.invalidField, "The token is from a first sync that is not complete. Finish the sync first.")
        }
    }

    /// Removes all cached pages. A page is useful only for a short time, while streams that were notified together read it.
    func removeAll() { recent.withLockedValue { $0 = [:] } }

    private func read(after token: SyncToken) async throws -> EventPage {
        let (response, feed, epoch) = (response, feed, backend.epoch)
        return try await backend.store.read { snapshot in
            let builder = EventPageBuilder()
            var body = builder.body()
            var page = try feed.page(since: token, of: token.scope, epoch: epoch, in: snapshot, into: &body)
            if page.hasMore {
                page.count(in: try token.remaining ?? feed.size(since: token, of: token.scope, in: snapshot))
            }
            var last = body.end()
            response.writeTail(of: page, to: &last)
            return builder.page(last, page.token)
        }
    }

    private var response: FeedResponse { FeedResponse(backend: backend, feed: feed, shape: .changes) }
}

/// Collects the encoded pieces of one event.
private final class EventPageBuilder {
    private var chunks: [ByteBuffer] = []

    func body() -> FeedBody {
        FeedBody(.changes, results: nil) { self.chunks.append($0) }
    }

    func page(_ last: ByteBuffer, _ token: SyncToken) -> EventPage {
        chunks.append(last)
        var head = ByteBuffer()
        ServerSentEvent.begin(.changes, in: &head)
        var tail = ByteBuffer()
        ServerSentEvent.end(id: token.text, in: &tail)
        // Most events have only one piece of data. Such an event is copied into one buffer, so that it is sent in one write.
        if chunks.count == 1 {
            head.writeImmutableBuffer(chunks[0])
            head.writeImmutableBuffer(tail)
            return EventPage(chunks: [head], token: token)
        }
        return EventPage(chunks: [head] + chunks + [tail], token: token)
    }
}
