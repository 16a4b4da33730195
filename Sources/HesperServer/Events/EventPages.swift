import HesperModel
import HesperStore
import NIOConcurrencyHelpers
import NIOCore

/// A page of changes as it goes out to listeners.
struct EventPage: Sendable {
    let chunks: [ByteBuffer]
    /// Where it leads to: the ID of its event.
    let token: SyncToken
}

/// Pages that go out as events. Those who stand at one place when their scope moves on share one: it is read and laid out
/// once, however many they are.
final class EventPages: Sendable {
    private let backend: Backend
    private let feed = Feed(.all, bytes: Limits.eventBytes)
    /// Pages of a scope that are kept, or being read: who was slow is at another place than who was not.
    private static let places = 4

    private struct Entry {
        let token: SyncToken
        let sequence: Int64
        let page: Task<EventPage, any Error>
    }

    private let recent = NIOLockedValueBox<[ScopeID: [Entry]]>([:])

    init(backend: Backend) { self.backend = backend }

    /// The page after a token, in a scope that is known to have moved on to a sequence.
    func page(after token: SyncToken, upTo sequence: Int64) async throws -> EventPage {
        let page = recent.withLockedValue { recent in
            var entries = recent[token.scope] ?? []
            if let entry = entries.last(where: { $0.token == token && $0.sequence == sequence }) { return entry.page }
            if entries.count == EventPages.places { entries.removeFirst() }
            let page = Task { try await read(after: token) }
            entries.append(Entry(token: token, sequence: sequence, page: page))
            recent[token.scope] = entries
            return page
        }
        return try await page.value
    }

    /// The page of somebody who wants to hear of what happens from now on.
    func empty(at head: ScopeHead) -> EventPage {
        let page = feed.emptyPage(at: head, epoch: backend.epoch)
        let layout = Layout()
        var body = layout.body()
        body.end { answer.writeTail(of: page, to: &$0) }
        return layout.page(page.token)
    }

    /// The token of whoever knows everything up to here.
    func token(at head: ScopeHead) -> SyncToken { feed.emptyPage(at: head, epoch: backend.epoch).token }

    /// Refuses what is not the token of a finished sync of everything.
    func check(_ token: SyncToken, head: ScopeHead) throws(Problem) {
        try feed.check(token, epoch: backend.epoch, head: head)
        guard case .after = token.position else {
            throw Problem(.invalidField, "This token is of a first sync that is not finished: read to its end first.")
        }
    }

    /// Lets go of what nobody will ask for again, as it was for those who were woken together.
    func forget() { recent.withLockedValue { $0 = [:] } }

    private func read(after token: SyncToken) async throws -> EventPage {
        let (answer, feed, epoch) = (answer, feed, backend.epoch)
        return try await backend.store.read { snapshot in
            let layout = Layout()
            var body = layout.body()
            let page = try feed.page(since: token, of: token.scope, epoch: epoch, in: snapshot, into: &body)
            body.end { answer.writeTail(of: page, to: &$0) }
            return layout.page(page.token)
        }
    }

    private var answer: FeedAnswer { FeedAnswer(backend: backend, feed: feed, shape: .changes) }
}

/// Gathers the chunks of one event.
private final class Layout {
    private var chunks: [ByteBuffer] = []

    func body() -> FeedBody {
        FeedBody(.changes, results: nil) { self.chunks.append($0) }
    }

    func page(_ token: SyncToken) -> EventPage {
        var head = ByteBuffer()
        ServerSentEvent.begin(.changes, in: &head)
        var tail = ByteBuffer()
        ServerSentEvent.end(id: token.text, in: &tail)
        // Most events are one short chunk, and become one write.
        if chunks.count == 1 {
            head.writeImmutableBuffer(chunks[0])
            head.writeImmutableBuffer(tail)
            return EventPage(chunks: [head], token: token)
        }
        return EventPage(chunks: [head] + chunks + [tail], token: token)
    }
}
