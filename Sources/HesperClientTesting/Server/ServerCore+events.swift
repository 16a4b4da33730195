package import HesperClient
package import HesperModel

/// An open event stream.
struct MemoryStream: Sendable {
    let account: UniqueID
    let node: NodeID
    var token: FeedToken
    /// Whether the next event must be a page without objects, which gives a token to a client that sent none.
    var needsToken: Bool
    /// The number of other listening devices in the last event `listeners`; nil before the first such event.
    var listeners: Int?
    /// The problem to send to the client if its token has expired; nil if the token has not expired.
    var expiry: Problem?
    var hasEnded = false
}

/// Event streams (protocol.md, Events). A stream does not queue events. The caller reads the events of each
/// stream after each request.
extension ServerCore {
    /// The maximum number of streams of a device.
    private static let streamsPerDevice = 8

    /// Opens a stream.
    /// - Returns: the serial number of the stream, or the response that refuses it.
    package mutating func openStream(
        _ request: ServerRequest, at now: Timestamp
    ) -> Result<Int, StreamRefused> {
        do {
            let target = RequestTarget(request.path)
            guard request.method == "GET", target.components == ["v1", "events"] else {
                throw Problem.notFound(request.path)
            }
            let caller = try authenticate(request, at: now)
            try target.check(known: ["since", "ping", "closeAfter"])
            return .success(try open(request, target, caller))
        } catch let problem as Problem {
            return .failure(StreamRefused(response: ServerResponse(problem, requestID: "stream-\(lastStream)")))
        } catch {
            let problem = Problem(.internalError, "\(error)")
            return .failure(StreamRefused(response: ServerResponse(problem, requestID: "stream-\(lastStream)")))
        }
    }

    private mutating func open(_ request: ServerRequest, _ target: RequestTarget, _ caller: Caller) throws(Problem)
        -> Int
    {
        let account = accounts[caller.account]
        let token = try (request.headers["last-event-id"] ?? target["since"]).map { text throws(Problem) in
            try ServerCore.token(text, at: "since")
        }
        var expiry: Problem?
        if let token {
            do throws(Problem) { try check(token, of: account.scope) } catch { expiry = error }
            if case .first = token.position {
                throw Problem(
                    .invalidField, "The token is from a first sync that is not complete. Finish the sync first.")
            }
        }
        let own = streams.filter { $0.value.node == caller.node && !$0.value.hasEnded }.keys.sorted()
        if own.count >= ServerCore.streamsPerDevice { streams[own[0]]?.hasEnded = true }
        lastStream += 1
        streams[lastStream] = MemoryStream(
            account: account.uniqueID, node: caller.node,
            token: token ?? FeedPage(emptyAt: account.scope, epoch: epoch).token, needsToken: token == nil,
            expiry: expiry)
        return lastStream
    }

    /// Closes a stream.
    package mutating func closeStream(_ number: Int) { streams[number] = nil }

    /// The events that are due in a stream, and whether the stream has ended.
    package mutating func takeEvents(of number: Int, at now: Timestamp) -> (events: [ServerEvent], hasEnded: Bool) {
        guard var stream = streams[number], !stream.hasEnded,
            let account = accounts.first(where: { $0.uniqueID == stream.account }), !account.isDisabled,
            account.devices.contains(where: { $0.node == stream.node })
        else {
            streams[number] = nil
            return ([], true)
        }
        if let expiry = stream.expiry {
            streams[number] = nil
            return ([ServerEvent(name: "expired", data: expiry.json.bytes)], true)
        }
        var events: [ServerEvent] = []
        let clock = serverClock(at: Timestamp(clamping: now.milliseconds + clockError))
        if stream.needsToken {
            stream.needsToken = false
            let page = FeedPage(emptyAt: account.scope, epoch: epoch)
            events.append(ServerEvent(name: "changes", data: page.body(receipts: nil, serverClock: clock)))
        }
        while stream.token.sequence < account.scope.sequence {
            let page = FeedPage(
                since: stream.token, of: account.scope, epoch: epoch, limit: min(Limits.defaultPage, pageLimit),
                bytes: Limits.eventBytes)
            events.append(ServerEvent(name: "changes", data: page.body(receipts: nil, serverClock: clock)))
            stream.token = page.token
        }
        let others = Set(
            streams.values.filter { $0.account == stream.account && $0.node != stream.node && !$0.hasEnded }.map(\.node)
        ).count
        if others != stream.listeners {
            stream.listeners = others
            events.append(ServerEvent(name: "listeners", data: Array("{\"listeners\":\(others)}".utf8)))
        }
        streams[number] = stream
        return (events, false)
    }
}
