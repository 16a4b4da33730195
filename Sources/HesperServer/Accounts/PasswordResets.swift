import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/passwords`: sets a new password with a code from the operator or from an e-mail. ``PasswordResetPage`` is the page
/// with the same function.
struct PasswordResets: Resource {
    let store: any Store
    let hub: EventHub
    let passwords: Passwords
    let gate: SignInGate

    func add(to routes: inout Routes) {
        routes.open(.post, "/v1/passwords", cache: .never, use: reset)
    }

    @Sendable private func reset(_ request: APIRequest) async throws -> Response {
        var fields = try Fields(await request.json(limit: Credentials.bodyBytes))
        let code = try fields.string("code", characters: 0...OneTimeCode.typedLength)
        let password = try fields.string("newPassword", bytes: Limits.passwordBytes)
        try fields.end()
        try await self(code: code, password: password, from: request.address)
        return Response(status: .noContent)
    }

    /// Sets the password and signs all devices out, because a stranger may have signed in with the previous password.
    /// - Throws: `forbidden`, `too-many-requests`.
    func callAsFunction(code: String, password: String, from address: ClientAddress) async throws {
        let token = OneTimeCode(code)?.hash
        let isGood = try await gate.attempt(from: address) {
            guard let token else { return false }
            return try await store.read { try $0.ticket(token, for: .passwordReset, at: .now) } != nil
        }
        guard isGood, let token else { throw PasswordResets.wrong }
        let hash = try await passwords.hash(password)
        let account = try await store.write { transaction in
            guard let id = try transaction.useTicket(token, for: .passwordReset, at: .now)?.account,
                let account = try transaction.account(id)
            else { throw PasswordResets.wrong }
            try transaction.changePassword(to: hash, of: id, signingOut: .all)
            return account
        }
        hub.signOut(of: account.scope) { _ in true }
    }

    private static let wrong = Problem(
        .forbidden, "The code is invalid, has been used, or has expired. Request another code.", at: "/code")
}
