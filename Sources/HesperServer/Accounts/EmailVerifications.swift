import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// Whether an account's e-mail address is its owner's: a link is sent there, and whoever has it says so. In the API, and as the
/// page behind the link.
struct EmailVerifications: Resource {
    let store: any Store
    let gate: SignInGate
    let desk: MailDesk
    let hasWebApp: Bool

    func add(to routes: inout Routes) {
        routes.on(.post, "/v1/account/email-verification", keeping: .never, use: ask)
        routes.open(.post, "/v1/email-verifications", keeping: .never, use: verify)
        guard desk.isOpen else { return }
        let link = CodeLink.verification
        routes.open(.get, link.path, [link.parameter], keeping: .never, isInContract: false, use: show)
        routes.open(.post, link.path, keeping: .never, isInContract: false, use: submit)
    }

    /// 202 if a letter is on its way, 204 if none is needed.
    @Sendable private func ask(_ call: Call, _ session: Session) async throws -> Response {
        guard let account = try await store.read({ try $0.account(session.account) }) else {
            throw Authenticator.unauthenticated
        }
        guard account.emailVerificationDate == nil else { return Response(status: .noContent) }
        guard !desk.isOpen || MailAddress(account.email) != nil else {
            throw Problem(.forbidden, "No letter can be sent to \(account.email): it is not written as mail has it.")
        }
        try desk.ask(Letter(kind: .emailVerification, email: account.email), from: call.address)
        return Response(status: .accepted)
    }

    @Sendable private func verify(_ call: Call) async throws -> Response {
        var fields = try Fields(await call.json(limit: Credentials.bodyBytes))
        let code = try fields.string("code", characters: 0...OneTimeCode.typedLength)
        try fields.end()
        try await self(code: code, from: call.address)
        return Response(status: .noContent)
    }

    /// - Throws: `forbidden`, `too-many-requests`.
    private func callAsFunction(code: String, from address: ClientAddress) async throws {
        let token = OneTimeCode(code)?.hash
        let isGood = try await gate.attempt(from: address) {
            guard let token else { return false }
            return try await store.write { try $0.verifyEmail(with: token, at: .now) }
        }
        guard isGood else {
            throw Problem(.forbidden, "The code is wrong, was used, or is too old: ask for another.", at: "/code")
        }
    }

    // MARK: The page

    /// Opening the link, as mail programs do to look at it, uses nothing up and tells nothing.
    @Sendable private func show(_ call: Call) -> Response {
        form(code: call.query[CodeLink.verification.parameter] ?? "", problem: nil)
    }

    @Sendable private func submit(_ call: Call) async throws -> Response {
        let body = try await call.body(limit: Credentials.bodyBytes)
        let code = try Query(String(buffer: body), known: ["code"])["code"] ?? ""
        do {
            try await self(code: code, from: call.address)
        } catch let problem as Problem where problem.slug.status < 500 {
            return form(code: code, problem: problem)
        }
        return verified
    }

    private func form(code: String, problem: Problem?) -> Response {
        HTMLPage(
            title: "Hesper: your e-mail address",
            body: """
                <h1>Is this your account?</h1>
                <p>Say so if you made the account that the letter is about. If you forget your password, a link to a new one is sent
                to the same address.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(CodeLink.verification.path)">
                <label for="code">Code</label>
                <input id="code" name="code" required autocomplete="off" autocapitalize="characters" spellcheck="false"
                    maxlength="\(OneTimeCode.typedLength)" value="\(HTMLPage.escape(code))">
                <button>Yes, it is mine</button>
                </form>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }

    private var verified: Response {
        HTMLPage(
            title: "Hesper: thank you",
            body: """
                <h1>Thank you</h1>
                <p>The address is verified. Nothing else has changed.</p>
                \(HTMLPage.wayOn("To the notes", hasWebApp: hasWebApp))
                """
        ).response()
    }
}
