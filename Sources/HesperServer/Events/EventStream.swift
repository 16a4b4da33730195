import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// The events of one listener, from the first to the end of the connection.
///
/// Nothing is queued for a listener except the sequence that its scope has reached. However slowly it reads, it gets one page
/// after its token, which contains all changes that were committed in the meantime.
struct EventStream: Sendable {
    let listener: Listener
    let pages: EventPages
    let progress: StreamProgress
    /// The sync token of the reader.
    let token: SyncToken
    /// The sequence of the scope when the listener was registered.
    let sequence: Int64
    /// The state of the scope at which a reader without a token starts.
    let start: ScopeHead?
    let endsAfterChanges: Bool
    let logger: Logger

    func write(to writer: any ResponseBodyWriter) async throws {
        var writer = writer
        var token = token
        defer { progress.end(at: token.sequence) }
        // If the task is cancelled, the connection closes, which ends the listener too.
        try await withGracefulShutdownHandler {
            guard try await begin(&token, to: &writer) else { return }
            while try await write(await listener.next(), from: &token, to: &writer) {}
        } onGracefulShutdown: { [listener] in
            listener.end(.shutdown)
        }
        try await writer.finish(nil)
    }

    /// Writes the first events.
    /// - Returns: whether the stream continues.
    private func begin(_ token: inout SyncToken, to writer: inout any ResponseBodyWriter) async throws -> Bool {
        guard let start else { return try await writeChanges(upTo: sequence, from: &token, to: &writer) }
        for chunk in pages.empty(at: start).chunks { try await writer.write(chunk) }
        return !endsAfterChanges
    }

    /// Writes the events for one notification.
    /// - Returns: whether the stream continues.
    private func write(
        _ news: ListenerUpdate, from token: inout SyncToken, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
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

    /// Writes all pages up to a sequence.
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
                // Any other problem means that the account was deleted, which the client learns when it reconnects.
                if problem.slug == .tokenExpired { try await writer.write(EventStream.expired(problem)) }
                return false
            } catch {
                // The client reconnects. The database may be available by then.
                logger.error("Event stream ended: its changes cannot be read", metadata: ["error": "\(error)"])
                return false
            }
            // An older copy of the database was restored.
            guard page.token.sequence > token.sequence else { return true }
            for chunk in page.chunks { try await writer.write(chunk) }
            token = page.token
            if endsAfterChanges { return false }
        }
        return true
    }

    /// The event that tells the reader to start over. It is an event because `EventSource` does not expose the status of a
    /// response.
    static func expired(_ problem: Problem) -> ByteBuffer {
        ServerSentEvent.bytes(.expired, problem.json.bytes)
    }
}
