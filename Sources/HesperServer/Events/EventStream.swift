import HesperModel
import HesperStore
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Writes the events of one listener until the connection or the stream ends.
///
/// Changes are not queued for a listener. Only the highest known sequence of its scope is stored. When a slow reader is ready
/// again, it receives all changes after its sync token in one page, or in as few pages as the maximum page size permits.
struct EventStream: Sendable {
    let listener: Listener
    let pages: EventPages
    let progress: StreamProgress
    /// The sync token after which the reader wants changes.
    let token: SyncToken
    /// The sequence of the scope when the listener was registered.
    let sequence: Int64
    /// The state of the scope at which a reader without a token starts; nil if the reader has a token.
    let start: ScopeHead?
    let endsAfterChanges: Bool
    /// The date at which the access token of the reader expires; nil if the reader has no token that expires. After this date, the
    /// stream ends instead of sending the next event or ping.
    let expiryDate: Timestamp?
    let request: APIRequest

    func write(to writer: any ResponseBodyWriter) async throws {
        var writer = writer
        var token = token
        defer { progress.end(at: token.sequence) }
        // No cancellation handler is needed, because a cancellation closes the connection, and this also ends the listener.
        try await withGracefulShutdownHandler {
            guard try await begin(&token, to: &writer) else { return }
            while try await write(await listener.next(), from: &token, to: &writer) {}
        } onGracefulShutdown: { [listener] in
            listener.end(.shutdown)
        }
        try await writer.finish(nil)
    }

    /// Writes the first events of the stream.
    /// - Returns: whether the stream continues.
    private func begin(_ token: inout SyncToken, to writer: inout any ResponseBodyWriter) async throws -> Bool {
        guard let start else { return try await writeChanges(upTo: sequence, from: &token, to: &writer) }
        for chunk in pages.empty(at: start).chunks { try await writer.write(chunk) }
        return !endsAfterChanges
    }

    /// Writes the events for one notification from the hub.
    /// - Returns: whether the stream continues.
    private func write(
        _ news: ListenerUpdate, from token: inout SyncToken, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        if let expiryDate, expiryDate <= .now { return false }
        if let end = news.end {
            if let closing = ServerSentEvent.closing(end) { try await writer.write(closing) }
            return false
        }
        guard try await writeChanges(upTo: news.sequence, from: &token, to: &writer) else { return false }
        var rest = ByteBuffer()
        for message in news.messages {
            ServerSentEvent.begin(.ephemeral, in: &rest)
            rest.writeImmutableBuffer(message)
            ServerSentEvent.end(in: &rest)
        }
        if let progress = news.importProgress {
            ServerSentEvent.begin(.import, in: &rest)
            rest.writeImmutableBuffer(progress)
            ServerSentEvent.end(in: &rest)
        }
        if let others = news.others {
            var data = JSONWriter(capacity: 32)
            data.object { $0.member("listeners", Int64(others)) }
            rest.writeImmutableBuffer(ServerSentEvent.bytes(.listeners, data.bytes))
        }
        if news.isPingDue { rest.writeImmutableBuffer(ServerSentEvent.ping) }
        if rest.readableBytes > 0 { try await writer.write(rest) }
        progress.update(to: token.sequence)
        return true
    }

    /// Writes all pages of changes up to a sequence.
    /// - Returns: whether the stream continues.
    private func writeChanges(
        upTo sequence: Int64, from token: inout SyncToken, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        while token.sequence < sequence {
            if listener.endReason != nil { return true }
            let page: EventPage
            do {
                page = try await pages.page(after: token, upTo: sequence)
            } catch let problem as Problem {
                // Any problem other than `token-expired` means that the account was deleted. No event is needed in that case: when
                // the client reconnects, the status 401 shows that it must sign in.
                if problem.slug == .tokenExpired { try await writer.write(EventStream.expired(problem)) }
                return false
            } catch {
                // The stream ends, so that the client reconnects. The database may be available again by then.
                request.logger.error(
                    "Event stream ended, because the changes cannot be read", metadata: ["error": "\(error)"])
                return false
            }
            // If an older copy of the database was restored in the meantime, the page may contain no changes. The stream then waits
            // for the next commit.
            guard page.token.sequence > token.sequence else { return true }
            for chunk in page.chunks { try await writer.write(chunk) }
            token = page.token
            if endsAfterChanges { return false }
        }
        return true
    }

    /// The event that tells the reader to start over. It is an event and not a status code, because `EventSource` does not expose
    /// the status of a response.
    static func expired(_ problem: Problem) -> ByteBuffer {
        ServerSentEvent.bytes(.expired, problem.json.bytes)
    }
}
