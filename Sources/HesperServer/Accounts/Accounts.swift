import HesperModel
import HesperStore
import Hummingbird

/// `/v1/accounts` and `/v1/account`: creates, returns, changes and deletes an account.
struct Accounts: Resource {
    let store: any Store
    let hub: EventHub
    let signUp: SignUp
    let confirmation: PasswordConfirmation
    let quota: Int64?
    let cookies: SessionCookies

    func add(to routes: inout Routes) {
        routes.open(.post, "/v1/accounts", cache: .never, use: create)
        routes.get("/v1/account", use: get)
        routes.on(.patch, "/v1/account", cache: .never, use: update)
        routes.on(.delete, "/v1/account", cache: .never, use: delete)
    }

    @Sendable private func create(_ request: APIRequest) async throws -> Response {
        try IdempotencyKey.refuse(in: request)
        let credentials = try Credentials.signUp(await request.json(limit: Credentials.bodyBytes))
        let device = try NewDevice(credentials, request: request, cookies: cookies, quota: quota)
        return try await signUp(
            email: credentials.email, password: credentials.password, invitation: credentials.invitation, for: request
        ) { transaction, account in try device.insert(into: transaction, account: account) }.response
    }

    @Sendable private func get(_ request: APIRequest, _ session: Session) async throws -> Response {
        let (account, usage) = try await self.account(of: session)
        return response(account, usage)
    }

    /// Changes the password. All other devices are signed out, and all access tokens are revoked, unless `signOutOthers` in the
    /// request is false.
    @Sendable private func update(_ request: APIRequest, _ session: Session) async throws -> Response {
        var fields = try Fields(await request.json(limit: Credentials.bodyBytes))
        let current = try fields.string("currentPassword", bytes: 0...Limits.passwordBytes.upperBound)
        let new = try fields.string("newPassword", bytes: Limits.passwordBytes)
        let signsOthersOut = try fields.optionalBool("signOutOthers") ?? true
        try fields.end()
        let (account, usage) = try await self.account(of: session)
        try await confirmation.check(current, of: account, request, at: "/currentPassword")
        let hash = try await signUp.passwords.hash(new)
        try await store.write { transaction in
            try PasswordConfirmation.check(account, session, in: transaction, at: "/currentPassword")
            try transaction.changePassword(
                to: hash, of: account.uniqueID, signingOut: signsOthersOut ? .others(than: session.device.node) : .none)
        }
        if signsOthersOut { hub.signOut(of: session.scope) { $0 != session.device.node } }
        return response(account, usage)
    }

    @Sendable private func delete(_ request: APIRequest, _ session: Session) async throws -> Response {
        var fields = try Fields(await request.json(limit: Credentials.bodyBytes))
        let password = try fields.string("password", bytes: 0...Limits.passwordBytes.upperBound)
        try fields.end()
        let (account, _) = try await self.account(of: session)
        try await confirmation.check(password, of: account, request, at: "/password")
        try await store.write { transaction in
            try PasswordConfirmation.check(account, session, in: transaction, at: "/password")
            try transaction.deleteAccount(account.uniqueID)
        }
        hub.signOut(of: session.scope) { _ in true }
        // The account has been deleted, but bytes of its data may remain in the database files. They are erased in the background,
        // because this can take a long time.
        Task { [store] in
            do { try await store.scrub() } catch {
                request.logger.warning(
                    "Erasing the data of a deleted account failed; some of it may remain in the database file",
                    metadata: ["error": "\(error)"])
            }
        }
        return Response(status: .noContent, headers: request.cookie?.signOutFields ?? [:])
    }

    private func account(of session: Session) async throws -> (Account, Usage) {
        try await store.read { snapshot in
            guard let account = try snapshot.account(session.account) else { throw Authenticator.unauthenticated }
            return (account, try snapshot.usage(of: account.scope))
        }
    }

    private func response(_ account: Account, _ usage: Usage) -> Response {
        var writer = JSONWriter(capacity: 256)
        account.write(to: &writer, usage: usage, quota: quota)
        return .json(writer.bytes)
    }
}
