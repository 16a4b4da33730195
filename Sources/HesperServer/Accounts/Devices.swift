import HesperModel
import HesperStore
import Hummingbird

/// `/v1/devices`: signs devices in and out, renames and lists them.
struct Devices: Resource {
    let store: any Store
    let hub: EventHub
    let passwords: Passwords
    let gate: SignInGate
    let quota: Int64?
    let cookies: SessionCookies

    func add(to routes: inout Routes) {
        routes.get("/v1/devices", ["limit", "cursor"], use: list)
        routes.open(.post, "/v1/devices", cache: .never, use: signIn)
        routes.patch("/v1/devices/{uniqueID}", use: rename)
        routes.delete("/v1/devices/{uniqueID}", use: signOut)
    }

    @Sendable private func signIn(_ request: APIRequest) async throws -> Response {
        try IdempotencyKey.refuse(in: request)
        let credentials = try Credentials.signIn(await request.json(limit: Credentials.bodyBytes))
        // Requests from pages of other sites are rejected before the password is checked. Otherwise such a page could find out
        // whether a password is right.
        let device = try NewDevice(credentials, request: request, cookies: cookies, quota: quota)
        let key = Account.key(of: credentials.email)
        let account = try await store.read { try $0.account(emailKey: key) }
        let isRight = try await gate.attempt(email: credentials.email, from: request.address) {
            try await passwords.matches(credentials.password, account?.passwordHash)
        }
        let wrong = Problem(.unauthenticated, "The e-mail address or the password is wrong.")
        guard isRight, let account else { throw wrong }
        return try await store.write { transaction in
            // Read the account again. While the password was checked, another request may have deleted the account or changed its
            // password.
            guard let now = try transaction.account(account.uniqueID), now.passwordHash == account.passwordHash else {
                throw wrong
            }
            if now.disabledSince != nil { throw Authenticator.disabled }
            return try device.insert(into: transaction, account: now)
        }.response
    }

    @Sendable private func rename(_ request: APIRequest, _ session: Session) async throws -> Response {
        let node = try request.node()
        var fields = try Fields(await request.json(limit: Credentials.bodyBytes))
        let name = try fields.string("name", characters: 1...Limits.deviceNameLength)
        try fields.end()
        let device = try await store.write { transaction in
            try Devices.check(node, of: session.account, in: transaction)
            guard let device = try transaction.rename(node, of: session.account, to: name) else {
                throw Problem.notFound(node)
            }
            return device
        }
        var writer = JSONWriter(capacity: 512)
        device.write(to: &writer, isCurrent: node == session.device.node)
        return .json(writer.bytes)
    }

    @Sendable private func signOut(_ request: APIRequest, _ session: Session) async throws -> Response {
        let node = try request.node()
        try await store.write { transaction in
            try Devices.check(node, of: session.account, in: transaction)
            _ = try transaction.deleteDevice(node, of: session.account)
        }
        hub.signOut(of: session.scope) { $0 == node }
        let isOwn = node == session.device.node
        return Response(status: .noContent, headers: isOwn ? request.cookie?.signOutFields ?? [:] : [:])
    }

    /// Checks that a node belongs to a device and not to an access token.
    private static func check(_ node: NodeID, of account: UniqueID, in transaction: any Transaction) throws {
        guard let device = try transaction.device(node, of: account), device.access == nil else {
            throw Problem.notFound(node)
        }
    }

    @Sendable private func list(_ request: APIRequest, _ session: Session) async throws -> Response {
        let limit = try request.query.integer("limit", default: Limits.defaultPage, in: 1...Limits.greatestPage)
        let cursor = try request.query["cursor"].map { text throws(Problem) in
            guard let node = NodeID(text) else {
                throw Cursor.unknown
            }
            return node
        }
        // Reads one more device than the limit, to find out whether there is a next page.
        var devices = try await store.read {
            try $0.devices(of: session.account, tokens: false, after: cursor, limit: limit + 1)
        }
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
