import HesperModel
import HesperStore
import Hummingbird

/// `/v1/tokens`: creates, lists and revokes access tokens (protocol.md, Access tokens).
struct Tokens: Resource {
    let backend: Backend
    let confirmation: PasswordConfirmation

    func add(to routes: inout Routes) {
        routes.get("/v1/tokens", use: list)
        routes.post("/v1/tokens", cache: .never, use: create)
        routes.delete("/v1/tokens/{uniqueID}", use: revoke)
    }

    @Sendable private func create(_ request: APIRequest, _ session: Session) async throws -> Response {
        try IdempotencyKey.refuse(in: request)
        let draft = try TokenDraft(await request.json(limit: Credentials.bodyBytes), at: backend.now())
        let account = try await backend.store.read { snapshot in
            guard let account = try snapshot.account(session.account) else { throw Authenticator.unauthenticated }
            return account
        }
        try await confirmation.check(draft.currentPassword, of: account, request, at: "/currentPassword")
        let new = NewToken(name: draft.name, access: draft.access, account: account.uniqueID, at: .now)
        try await backend.store.write { transaction in
            try PasswordConfirmation.check(account, session, in: transaction, at: "/currentPassword")
            try new.insert(into: transaction, scope: session.scope)
        }
        return .object(status: .created, headers: [.location: "/v1/tokens/\(new.device.node)"]) { writer in
            new.device.writeToken(to: &writer, new.token)
        }
    }

    @Sendable private func list(_ request: APIRequest, _ session: Session) async throws -> Response {
        let tokens = try await backend.store.read {
            try $0.devices(of: session.account, tokens: true, after: nil, limit: Limits.accessTokens)
        }
        return .object { writer in
            writer.name("tokens")
            writer.array { writer in
                for token in tokens { writer.object { token.writeToken(to: &$0, nil) } }
            }
        }
    }

    @Sendable private func revoke(_ request: APIRequest, _ session: Session) async throws -> Response {
        let node = try request.node()
        try await backend.store.write { transaction in
            guard let device = try transaction.device(node, of: session.account), device.access != nil else {
                throw Problem.notFound(node)
            }
            _ = try transaction.deleteDevice(node, of: session.account)
        }
        backend.hub.signOut(of: session.scope) { $0 == node }
        return Response(status: .noContent)
    }
}

/// The body of a request to create an access token.
private struct TokenDraft: Sendable {
    let name: String
    let access: TokenAccess
    let currentPassword: String

    init(_ json: JSON, at now: Timestamp) throws(Problem) {
        var fields = try Fields(json)
        name = try fields.string("name", characters: 1...Limits.deviceNameLength)
        currentPassword = try fields.string("currentPassword", bytes: 0...Limits.passwordBytes.upperBound)
        let scopes = try TokenDraft.scopes(&fields)
        let expiryDate = try fields.optionalString("expiryDate").map { text throws(Problem) in
            guard let date = Timestamp(text) else {
                throw fields.invalid("expiryDate", "must be a date such as 2027-11-21T08:40:00Z")
            }
            guard date > now else { throw fields.invalid("expiryDate", "must be in the future") }
            return date
        }
        let tag = try fields.optionalString("tag").map { text throws(Problem) in
            guard let id = UniqueID(text) else { throw fields.invalid("tag", "must be the ID of a tag") }
            return id
        }
        try fields.end()
        access = TokenAccess(scopes, expiryDate: expiryDate, tag: tag)
    }

    private static func scopes(_ fields: inout Fields) throws(Problem) -> Set<TokenAccess.Scope> {
        let known = TokenAccess.Scope.allCases.map(\.rawValue).joined(separator: ", ")
        guard let json = fields.value("scopes") else { throw fields.invalid("scopes", "is missing") }
        guard case .array(let elements) = json, !elements.isEmpty else {
            throw fields.invalid("scopes", "must be an array with at least one of \(known)")
        }
        var scopes: Set<TokenAccess.Scope> = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, let scope = TokenAccess.Scope(rawValue: text) else {
                throw Problem(.invalidField, "scopes must contain only \(known).", at: "/scopes/\(index)")
            }
            scopes.insert(scope)
        }
        return scopes
    }
}

extension Device {
    /// Writes the members of an access token.
    /// - Parameter secret: the token itself; nil if it is not part of the response.
    fileprivate func writeToken(to writer: inout JSONWriter, _ secret: BearerToken?) {
        writer.member("uniqueID", node.description)
        writer.member("name", name)
        let access = access ?? TokenAccess([])
        writer.member("scopes", .array(access.scopes.map(\.rawValue).sorted().map { .string($0) }))
        if let tag = access.tag { writer.member("tag", tag) }
        writer.member("creationDate", creationDate)
        if let date = access.expiryDate { writer.member("expiryDate", date) }
        if lastUseDate > creationDate { writer.member("lastUseDate", lastUseDate) }
        if let userAgent { writer.member("userAgent", userAgent) }
        if let lastUseAddress { writer.member("lastUseAddress", lastUseAddress) }
        if let secret { writer.member("token", secret.text) }
    }
}
