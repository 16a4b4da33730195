package import HesperClient
package import HesperModel

/// A ``ServerCore`` with faults, still synchronous and deterministic.
package struct FaultyServer: Sendable {
    package var core: ServerCore
    /// Draws the faults of each request; nil for none.
    package var schedule: FaultSchedule?
    /// Whether no request reaches the server.
    package var isOffline = false
    private var planned: [PlannedFault] = []

    /// The reply to a request, as the client receives it.
    package struct Reply: Sendable {
        /// The response, or the reason why the client receives none.
        package var result: Result<ServerResponse, NoResponse>
        /// The delay of the reply, in milliseconds.
        package var delay = 0
    }

    package init(seed: UInt64) { core = ServerCore(seed: seed) }

    /// Applies a fault to the next requests.
    /// - Parameters:
    ///   - fault: the fault.
    ///   - count: the number of requests to which the fault applies.
    ///   - path: the fault applies only to requests whose path begins with this text.
    package mutating func plan(_ fault: Fault, times count: Int, path: String) {
        planned.append(PlannedFault(fault: fault, path: path, count: count))
    }

    /// Responds to a request with the faults that are drawn and planned for it.
    package mutating func reply(to request: ServerRequest, at now: Timestamp) -> Reply {
        let faults = takeFaults(of: request)
        var delay = 0
        for case .slow(let milliseconds) in faults { delay += milliseconds }
        guard !isOffline, !faults.contains(.requestLost) else {
            return Reply(result: .failure(NoResponse("The request did not reach the server.")), delay: delay)
        }
        for fault in faults {
            guard let problem = fault.refusal, fault != .tokenExpired || request.hasSyncToken else { continue }
            return Reply(result: .success(ServerResponse(problem, requestID: "fault")), delay: delay)
        }
        let response = core.respond(to: request, at: now, with: faults)
        guard !faults.contains(.responseLost) else {
            return Reply(result: .failure(NoResponse("The connection ended before the response.")), delay: delay)
        }
        return Reply(result: .success(response), delay: delay)
    }

    private mutating func takeFaults(of request: ServerRequest) -> [Fault] {
        var faults = schedule?.next() ?? []
        for index in planned.indices where planned[index].count > 0 && request.path.hasPrefix(planned[index].path) {
            faults.append(planned[index].fault)
            planned[index].count -= 1
        }
        planned.removeAll { $0.count == 0 }
        return faults
    }
}

extension ServerCore {
    /// Responds to a request. Applies the faults `shortPage` and `rejected`; `reply(to:at:)` applies all others.
    fileprivate mutating func respond(
        to request: ServerRequest, at now: Timestamp, with faults: [Fault]
    ) -> ServerResponse {
        let (pageLimit, refusals) = (pageLimit, refusals)
        defer { (self.pageLimit, self.refusals) = (pageLimit, refusals) }
        for fault in faults {
            switch fault {
            case .shortPage(let objects): self.pageLimit = min(self.pageLimit, max(objects, 1))
            case .rejected(let field, let slug): self.refusals[field] = Problem.Slug(rawValue: slug) ?? .invalidField
            case .requestLost, .responseLost, .unavailable, .tooManyRequests, .internalError, .storageFull,
                .unauthenticated, .tokenExpired, .slow:
                break
            }
        }
        return respond(to: request, at: now)
    }
}

extension ServerRequest {
    /// Whether the request has a sync token, which may have expired.
    fileprivate var hasSyncToken: Bool {
        guard path == "/v1/sync" else { return path.contains("since=") }
        guard case .object(let object)? = try? JSONReader.read(body) else { return false }
        return object["syncToken"] != nil
    }
}
