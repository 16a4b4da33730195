import Foundation
import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `GET /v1/events`: changes as they commit, and what other devices say (protocol.md, Events).
struct Events: Resource {
    let backend: Backend
    let pages: EventPages
    let authenticator: Authenticator
    let uses: DeviceUses

    /// Seconds between signs of life, if the reader does not say.
    static let ping = 20
    static let pings = 1...300

    func add(to routes: inout Routes) {
        routes.get("/v1/events", ["since", "ping", "closeAfter"], keeping: .never, use: events)
    }

    @Sendable private func events(_ call: Call, _ session: Session) async throws -> Response {
        let ping = try call.query.integer("ping", default: Events.ping, in: Events.pings)
        let endsAfterChanges = try endsAfterChanges(call)
        let token = try call.lastEvent()
        let problem = try expiry(of: token, session)
        if call.request.method == .head { return answer(call) { try await $0.finish(nil) } }
        if let problem {
            return answer(call) { writer in
                var writer = writer
                try await writer.write(EventStream.expired(problem))
                try await writer.finish(nil)
            }
        }
        let listener = try backend.hub.listen(to: session.scope, as: session.device.node, ping: ping)
        // What commits from now on is announced; what has, this look tells, and whether the device was signed out since.
        let head = try await authenticator.session(of: call.request).head
        call.send(Farewell { [weak listener] in listener?.end(.disconnected) })
        call.channel.noticeSilence()
        call.hasRead(Feed(.all), since: token, session)
        let stream = EventStream(
            listener: listener, pages: pages,
            reading: StreamReading(
                of: session.device.node, from: token?.sequence ?? head.sequence, uses: uses, now: backend.now),
            token: token ?? pages.token(at: head), sequence: head.sequence, first: token == nil ? head : nil,
            endsAfterChanges: endsAfterChanges, logger: call.logger)
        return answer(call) { try await stream.write(to: $0) }
    }

    /// Why a reader must start over, if it must.
    private func expiry(of token: SyncToken?, _ session: Session) throws -> Problem? {
        guard let token else { return nil }
        do {
            try pages.check(token, head: session.head)
            return nil
        } catch {
            guard error.slug == .tokenExpired else { throw error }
            return error
        }
    }

    private func answer(
        _ call: Call, _ body: @escaping @Sendable (any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store, no-transform",
            // nginx would gather events until they fill a buffer.
            .accelBuffering: "no",
        ]
        // How long it would be, nobody knows.
        if call.request.method == .head { headers[.transferEncoding] = "chunked" }
        return Response(status: .ok, headers: headers, body: ResponseBody { writer in try await body(writer) })
    }

    private func endsAfterChanges(_ call: Call) throws(Problem) -> Bool {
        switch call.query["closeAfter"] {
        case nil: false
        case "changes"?: true
        default: throw Problem(.invalidField, "closeAfter is changes, or left out.", at: "closeAfter")
        }
    }
}

extension Call {
    /// Where the reader of a stream stands: its last event, if it comes back, else what it asks for.
    fileprivate func lastEvent() throws(Problem) -> SyncToken? {
        guard let text = self[.lastEventID], !text.isEmpty else { return try token() }
        guard let token = SyncToken(text) else {
            throw Problem(.invalidField, "Last-Event-ID is the id of an earlier event, unchanged.", at: "Last-Event-ID")
        }
        return token
    }
}

extension Channel {
    /// Ends the connection when what is sent is not acknowledged for a minute: of a phone that has left the network nobody
    /// hears an end, and the system itself would try for a quarter of an hour.
    fileprivate func noticeSilence() {
        #if os(Linux)
            let userTimeout = ChannelOptions.Types.SocketOption(
                level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT))
            // Where there is no such option, it takes longer.
            connection.setOption(userTimeout, value: 60_000).whenFailure { _ in }
        #endif
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .date
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .date
}
