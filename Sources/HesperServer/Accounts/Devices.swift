import HesperModel
import HesperStore
import Hummingbird

/// `/v1/devices`: signing in and out, and who is signed in.
struct Devices: Resource {
    let store: any Store
    let hub: EventHub
    let passwords: Passwords
    let gate: SignInGate
    let quota: Int64?
    let cookies: SessionCookies

    func add(to routes: inout Routes) {
        routes.get("/v1/devices", ["limit", "cursor"], use: list)
        routes.open(.post, "/v1/devices", keeping: .never, use: signIn)
        routes.delete("/v1/devices/{uniqueID}", use: signOut)
    }

    @Sendable private func signIn(_ call: Call) async throws -> Response {
        let credentials = try Credentials.signIn(await call.json(limit: Credentials.bodyBytes))
        // First: another site's page learns nothing about a password.
        let device = try NewDevice(credentials, call: call, cookies: cookies, quota: quota)
        let key = Account.key(of: credentials.email)
        let account = try await store.read { try $0.account(emailKey: key) }
        let isRight = try await gate.attempt(email: credentials.email, from: call.address) {
            try await passwords.matches(credentials.password, account?.passwordHash)
        }
        let wrong = Problem(.unauthenticated, "No account has this e-mail and this password.")
        guard isRight, let account else { throw wrong }
        return try await store.write { transaction in
            // The account may have gone, or have another password, while this one was being checked.
            guard let now = try transaction.account(account.uniqueID), now.passwordHash == account.passwordHash else {
                throw wrong
            }
            if now.disabledSince != nil { throw Authenticator.disabled }
            return try device.insert(into: transaction, account: now)
        }.response
    }

    @Sendable private func signOut(_ call: Call, _ session: Session) async throws -> Response {
        let node = try call.node()
        guard try await store.write({ try $0.deleteDevice(node, of: session.account) }) else {
            throw Problem.notFound(node)
        }
        hub.signOut(of: session.scope) { $0 == node }
        let isOwn = node == session.device.node
        return Response(status: .noContent, headers: isOwn ? call.cookie?.erased ?? [:] : [:])
    }

    @Sendable private func list(_ call: Call, _ session: Session) async throws -> Response {
        let limit = try call.query.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
        let cursor = try call.query["cursor"].map { text throws(Problem) in
            guard let node = NodeID(text) else {
                throw Problem(.invalidField, "This cursor is none that a page gave.", at: "cursor")
            }
            return node
        }
        // One more than asked for tells whether there is a next page.
        var devices = try await store.read { try $0.devices(of: session.account, after: cursor, limit: limit + 1) }
        let hasMore = devices.count > limit
        if hasMore { devices.removeLast() }
        return .object { writer in
            writer.name("devices")
            writer.array { writer in
                for device in devices { device.write(to: &writer, isCurrent: device.node == session.device.node) }
            }
            if hasMore, let last = devices.last { writer.member("nextCursor", last.node.description) }
        }
    }
}
