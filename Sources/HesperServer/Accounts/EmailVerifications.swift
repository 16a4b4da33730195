import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// Verifies the e-mail address of an account: sends a link to the address, and accepts the code in this link. It has routes of
/// the API, and a page for the user who opens the link.
struct EmailVerifications: Resource {
    let store: any Store
    let gate: SignInGate
    let emails: EmailGate
    let hasWebApp: Bool

    func add(to routes: inout Routes) {
        routes.on(.post, "/v1/account/email-verification", cache: .never, use: requestVerification)
        routes.open(.post, "/v1/email-verifications", cache: .never, use: verify)
        guard emails.isAvailable else { return }
        let link = CodeLink.verification
        routes.open(.get, link.path, [link.parameter], cache: .never, isInContract: false, use: show)
        routes.open(.post, link.path, cache: .never, isInContract: false, use: submit)
    }

    /// Responds with 202 if an e-mail will be sent, or 204 if the address is verified already.
    @Sendable private func requestVerification(_ request: APIRequest, _ session: Session) async throws -> Response {
        guard let account = try await store.read({ try $0.account(session.account) }) else {
            throw Authenticator.unauthenticated
        }
        guard account.emailVerificationDate == nil else { return Response(status: .noContent) }
        guard !emails.isAvailable || MailAddress(account.email) != nil else {
            throw Problem(
                .forbidden,
                "No e-mail can be sent to \(account.email), because the syntax of the address is not supported.")
        }
        try emails.send(AccountEmail(kind: .emailVerification, address: account.email), from: request.address)
        return Response(status: .accepted)
    }

    @Sendable private func verify(_ request: APIRequest) async throws -> Response {
        var fields = try Fields(await request.json(limit: Credentials.bodyBytes))
        let code = try fields.string("code", characters: 0...OneTimeCode.typedLength)
        try fields.end()
        try await self(code: code, from: request.address)
        return Response(status: .noContent)
    }

    /// Verifies an e-mail address with the code that was sent to it.
    /// - Throws: `forbidden` if the code is invalid; `too-many-requests` after too many wrong codes.
    private func callAsFunction(code: String, from address: ClientAddress) async throws {
        let token = OneTimeCode(code)?.hash
        let isGood = try await gate.attempt(from: address) {
            guard let token else { return false }
            return try await store.write { try $0.verifyEmail(with: token, at: .now) }
        }
        guard isGood else {
            throw Problem(
                .forbidden, "The code is invalid, has been used, or has expired. Request another code.", at: "/code")
        }
    }

    // MARK: The page

    /// Shows the form, but neither checks nor uses the code, because some mail programs open links before the user does.
    @Sendable private func show(_ request: APIRequest) -> Response {
        form(code: request.query[CodeLink.verification.parameter] ?? "", problem: nil)
    }

    @Sendable private func submit(_ request: APIRequest) async throws -> Response {
        let body = try await request.body(limit: Credentials.bodyBytes)
        let code = try Query(String(buffer: body), known: ["code"])["code"] ?? ""
        do {
            try await self(code: code, from: request.address)
        } catch let problem as Problem where problem.slug.status < 500 {
            return form(code: code, problem: problem)
        }
        return verified
    }

    private func form(code: String, problem: Problem?) -> Response {
        HTMLPage(
            title: "Hesper: verify your e-mail address",
            body: """
                <h1>Verify your e-mail address</h1>
                <p>Confirm that the account in the e-mail is yours. If you forget your password, a link to set a new
                password is sent to this address.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(CodeLink.verification.path)">
                <label for="code">Code</label>
                <input id="code" name="code" required autocomplete="off" autocapitalize="characters" spellcheck="false"
                    maxlength="\(OneTimeCode.typedLength)" value="\(HTMLPage.escape(code))">
                <button>Verify address</button>
                </form>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }

    private var verified: Response {
        HTMLPage(
            title: "Hesper: address verified",
            body: """
                <h1>Address verified</h1>
                <p>Your e-mail address is verified. You can close this page.</p>
                \(HTMLPage.webAppLink("Open notes", hasWebApp: hasWebApp))
                """
        ).response()
    }
}
