import HesperModel
import HesperStore
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// What one listener is sent, from its first event to the end of the connection.
///
/// Nothing is gathered for a listener but the fact that its scope has moved on: however slowly it reads, it is given one
/// page after where it stands, and commits that came meanwhile are on it.
struct EventStream: Sendable {
    let listener: Listener
    let pages: EventPages
    let reading: StreamReading
    /// Up to where its reader is.
    let token: SyncToken
    /// Up to where its scope had committed when it began to listen.
    let sequence: Int64
    /// Where the reader begins who has no token.
    let first: ScopeHead?
    let endsAfterChanges: Bool
    let logger: Logger

    func write(to writer: any ResponseBodyWriter) async throws {
        var writer = writer
        var token = token
        defer { reading.end(at: token.sequence) }
        // If the task is cancelled, its connection is closed, which ends the listener as well.
        try await withGracefulShutdownHandler {
            guard try await begin(&token, to: &writer) else { return }
            while try await write(await listener.next(), from: &token, to: &writer) {}
        } onGracefulShutdown: { [listener] in
            listener.end(.shutdown)
        }
        try await writer.finish(nil)
    }

    /// - Returns: whether there may be more.
    private func begin(_ token: inout SyncToken, to writer: inout any ResponseBodyWriter) async throws -> Bool {
        guard let first else { return try await writeChanges(upTo: sequence, from: &token, to: &writer) }
        for chunk in pages.empty(at: first).chunks { try await writer.write(chunk) }
        return !endsAfterChanges
    }

    /// - Returns: whether there may be more.
    private func write(
        _ news: ListenerUpdate, from token: inout SyncToken, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        if let end = news.end {
            if let goodbye = ServerSentEvent.goodbye(end) { try await writer.write(goodbye) }
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
        reading.isAlive(at: token.sequence)
        return true
    }

    /// Writes all pages up to a sequence.
    /// - Returns: whether there may be more events.
    private func writeChanges(
        upTo sequence: Int64, from token: inout SyncToken, to writer: inout any ResponseBodyWriter
    ) async throws -> Bool {
        while token.sequence < sequence {
            if listener.endReason != nil { return true }
            let page: EventPage
            do {
                page = try await pages.page(after: token, upTo: sequence)
            } catch let problem as Problem {
                // Else the account is gone, which whoever comes back is told.
                if problem.slug == .tokenExpired { try await writer.write(EventStream.expired(problem)) }
                return false
            } catch {
                // It comes back, and may find the store well.
                logger.error("A stream of events ends, as its changes can not be read: \(error)")
                return false
            }
            // Somebody put an older copy of the database in its place.
            guard page.token.sequence > token.sequence else { return true }
            for chunk in page.chunks { try await writer.write(chunk) }
            token = page.token
            if endsAfterChanges { return false }
        }
        return true
    }

    /// That the reader must start over. Told as an event, as the status of an answer is not shown to whoever reads with
    /// `EventSource`.
    static func expired(_ problem: Problem) -> ByteBuffer {
        ServerSentEvent.bytes(.expired, problem.json.bytes)
    }
}
