import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `/v1/devices/{uniqueID}/revocation`: revokes a lost device, and undoes the changes that it pushed after a given time
/// (merge.md, Devices).
struct Revocations: Resource {
    let backend: Backend
    /// Fired after each revocation, to start the background task that undoes changes of revoked devices.
    let revoking: Trigger
    private let permits = Semaphore<ScopeID>.perAccount(
        "history searches", PermitLimits(total: 2, perKey: 1, waitingPerKey: 8))

    func add(to routes: inout Routes) {
        routes.get("/v1/devices/{uniqueID}/revocation", ["limit", "cursor"], use: get)
        routes.on(.post, "/v1/devices/{uniqueID}/revocation", cache: .never, use: revoke)
    }

    /// Revokes a device. When the response is sent, the token of the device is invalid, and its event streams have ended. The
    /// changes of the device are undone in the background.
    @Sendable private func revoke(_ request: APIRequest, _ session: Session) async throws -> Response {
        let moment = try Revocations.moment(await request.json(limit: Credentials.bodyBytes))
        let node = try request.node()
        let now = backend.now()
        let (scope, account, sender) = (session.scope, session.account, session.device.node)
        let isKnown = try await isKnown(node, to: session)
        let begun = try await backend.scope(of: session).commit { transaction -> Begun in
            // Locks the scope, so that every push of the device is either committed before the revocation or rejected after it.
            guard try transaction.lock(scope) != nil, let requester = try transaction.device(sender, of: account) else {
                throw Authenticator.unauthenticated
            }
            let current = try transaction.revocation(of: node, in: scope)
            if var current {
                if current.widen(to: moment) { try transaction.put(current) }
                return Begun(revocation: current, isNew: false)
            }
            let device = try transaction.device(node, of: account)
            guard isKnown || device != nil else { throw Problem.notFound(node) }
            // The name of a device that has signed out is not stored any more, so its ID is used as the name.
            let revocation = Revocation(
                of: node, named: device?.name ?? node.description, in: scope, by: requester.node == node ? nil : sender,
                at: now, since: moment)
            try transaction.put(revocation)
            _ = try transaction.deleteDevice(node, of: account)
            return Begun(revocation: revocation, isNew: true)
        }
        backend.hub.signOut(of: scope) { $0 == node }
        revoking.fire()
        let body = try await backend.store.read {
            try Revocations.body(of: begun.revocation, in: $0, limit: Limits.defaultPage, nil)
        }
        return .json(
            body, status: begun.isNew ? .created : .ok,
            headers: node == sender ? request.cookie?.signOutFields ?? [:] : [:])
    }

    /// Whether the node belongs, or belonged, to a device of the account. This is true if the device is signed in, was revoked, or
    /// made changes that the history still contains. The number of concurrent searches of the history is limited, because they are
    /// expensive.
    private func isKnown(_ node: NodeID, to session: Session) async throws -> Bool {
        let (scope, account) = (session.scope, session.account)
        let isListed = try await backend.store.read { snapshot in
            if try snapshot.device(node, of: account) != nil { return true }
            return try snapshot.revocation(of: node, in: scope) != nil
        }
        if isListed { return true }
        return try await permits.withPermit(scope) {
            try await backend.store.read { try $0.hasTrace(of: node, in: scope) }
        }
    }

    private struct Begun: Sendable {
        let revocation: Revocation
        let isNew: Bool
    }

    @Sendable private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        let node = try request.node()
        let limit = try request.limit()
        let cursor = try request.cursor(1)
        let scope = session.scope
        let body = try await backend.store.read { snapshot in
            guard let revocation = try snapshot.revocation(of: node, in: scope) else { throw Problem.notFound(node) }
            return try Revocations.body(of: revocation, in: snapshot, limit: limit, cursor)
        }
        return .json(body)
    }

    private static func moment(_ json: JSON) throws(Problem) -> Timestamp? {
        var fields = try Fields(json)
        let text = try fields.optionalString("moment")
        try fields.end()
        guard let text else { return nil }
        guard let moment = Timestamp(text) else {
            throw fields.invalid("moment", "must be a date such as 2026-11-21T08:40:00Z")
        }
        return moment
    }

    private static func body(
        of revocation: Revocation, in snapshot: any Snapshot, limit: Int, _ cursor: Cursor?
    ) throws -> [UInt8] {
        var deletions: [(deleted: DeletedObject, sequence: Int64)] = []
        if let moment = revocation.moment {
            deletions = try snapshot.deletions(
                by: revocation.node, after: moment, in: revocation.scope, before: cursor?.numbers[0], limit: limit + 1)
        }
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            writer.name("device")
            writer.object { writer in
                writer.member("uniqueID", revocation.node.description)
                writer.member("name", revocation.name)
            }
            writer.member("requestDate", revocation.requestDate)
            if let moment = revocation.moment { writer.member("moment", moment) }
            if let date = revocation.finishDate { writer.member("finishDate", date) }
            writer.name("objects")
            writer.object { writer in
                writer.member("putBack", Int64(revocation.counts.putBack))
                writer.member("deleted", Int64(revocation.counts.deleted))
                writer.member("older", Int64(revocation.counts.older))
                writer.member("kept", Int64(revocation.counts.kept))
            }
            writer.name("deletedObjects")
            writer.array { writer in for one in deletions.prefix(limit) { one.deleted.write(to: &writer) } }
            if deletions.count > limit { writer.member("nextCursor", Cursor(deletions[limit - 1].sequence).text) }
        }
        return writer.bytes
    }
}
