import Foundation
import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird
import NIOCore

/// `GET /v1/events`: sends changes as they are committed, and messages from other devices (protocol.md, Events).
struct Events: Resource {
    let backend: Backend
    let pages: EventPages
    let authenticator: Authenticator
    let uses: DeviceUses

    /// The default interval between pings, in seconds.
    static let ping = 20
    static let pings = 1...300

    func add(to routes: inout Routes) {
        routes.get("/v1/events", ["since", "ping", "closeAfter"], cache: .never, tokens: .read, use: events)
    }

    @Sendable private func events(_ request: APIRequest, _ session: Session) async throws -> Response {
        let ping = try request.query.integer("ping", default: Events.ping, in: Events.pings)
        let endsAfterChanges = try endsAfterChanges(request)
        let token = try request.lastEvent()
        let problem = try expiry(of: token, session)
        if request.http.method == .head { return response(request) { try await $0.finish(nil) } }
        if let problem {
            return response(request) { writer in
                try await writer.write(EventStream.expired(problem))
                try await writer.finish(nil)
            }
        }
        let listener = try backend.hub.listen(to: session.scope, as: session.device.node, ping: ping)
        // The session is read again after the listener was registered, so that no commit is missed: `head` includes all earlier
        // commits, and the listener is notified of all later ones. The second read also rejects a device that was signed out after
        // the request was authenticated.
        let head = try await authenticator.session(of: request.http).head
        request.onDisconnect(DisconnectHandler { [weak listener] in listener?.end(.disconnected) })
        request.channel.setAcknowledgementTimeout()
        request.recordReadPosition(Feed(.all), since: token, session)
        let stream = EventStream(
            listener: listener, pages: pages,
            progress: StreamProgress(
                of: session.device.node, from: token?.sequence ?? head.sequence, uses: uses, now: backend.now),
            token: token ?? pages.token(at: head), sequence: head.sequence, start: token == nil ? head : nil,
            endsAfterChanges: endsAfterChanges, expiryDate: session.device.access?.expiryDate, request: request)
        return response(request) { try await stream.write(to: $0) }
    }

    /// Returns the problem `token-expired` if the token has expired. The reader must then start over. Returns nil if the token is
    /// valid, or if there is no token.
    /// - Throws: the problem, if the token is invalid for another reason.
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

    private func response(
        _ request: APIRequest, _ body: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        var headers: HTTPFields = [
            .contentType: "text/event-stream", .cacheControl: "no-store, no-transform",
            // Without this header, nginx would buffer events.
            .accelBuffering: "no",
        ]
        // The length of the response to GET is unknown, so the response to HEAD must not have a length either.
        if request.http.method == .head { headers[.transferEncoding] = "chunked" }
        return Response(status: .ok, headers: headers, body: ResponseBody(body))
    }

    private func endsAfterChanges(_ request: APIRequest) throws(Problem) -> Bool {
        switch request.query["closeAfter"] {
        case nil: false
        case "changes"?: true
        default: throw Problem(.invalidField, "closeAfter must be \"changes\", or omitted.", at: "closeAfter")
        }
    }
}

extension APIRequest {
    /// The token at which a stream starts: the token in `Last-Event-ID` if the client reconnects, otherwise the token in the
    /// query.
    fileprivate func lastEvent() throws(Problem) -> SyncToken? {
        guard let text = self[.lastEventID], !text.isEmpty else { return try token() }
        guard let token = SyncToken(text) else {
            throw Problem(
                .invalidField, "Last-Event-ID must be exactly the ID of an earlier event.", at: "Last-Event-ID")
        }
        return token
    }
}

extension Channel {
    /// Closes the connection if sent data is not acknowledged for a minute. A phone that leaves the network does not close its
    /// connections. Without this timeout, the operating system would retransmit the data for a quarter of an hour.
    fileprivate func setAcknowledgementTimeout() {
        #if os(Linux)
            let userTimeout = ChannelOptions.Types.SocketOption(
                level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT))
            // If the option cannot be set, the timeout of the operating system applies.
            connection.setOption(userTimeout, value: 60_000).whenFailure { _ in }
        #endif
    }
}

extension HTTPField.Name {
    static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .date
    static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .date
}
