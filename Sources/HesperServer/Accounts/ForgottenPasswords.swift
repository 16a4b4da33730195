import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/password-resets`, and a page with the same function: sends an e-mail with a link to set a new password.
struct ForgottenPasswords: Resource {
    let emails: EmailGate
    let hasWebApp: Bool

    static let path = "/forgot-password"

    func add(to routes: inout Routes) {
        routes.open(.post, "/v1/password-resets", cache: .never, use: requestReset)
        guard emails.isAvailable else { return }
        routes.open(.get, ForgottenPasswords.path, cache: .never, isInContract: false) { _ in
            form(email: "", problem: nil)
        }
        routes.open(.post, ForgottenPasswords.path, cache: .never, isInContract: false, use: submit)
    }

    /// Accepts a request for a link. The account is not looked up before the response, so the response is the same whether or
    /// not there is an account.
    @Sendable private func requestReset(_ request: APIRequest) async throws -> Response {
        try emails.send(try email(await request.json(limit: Credentials.bodyBytes)), from: request.address)
        return Response(status: .accepted)
    }

    @Sendable private func submit(_ request: APIRequest) async throws -> Response {
        let body = try await request.body(limit: Credentials.bodyBytes)
        let address = try Query(String(buffer: body), known: ["email"])["email"] ?? ""
        do {
            try emails.send(try email(["email": .string(address)]), from: request.address)
        } catch {
            return form(email: address, problem: error)
        }
        return requested
    }

    private func email(_ json: JSON) throws(Problem) -> AccountEmail {
        var fields = try Fields(json)
        let address = try fields.string("email", bytes: 3...Limits.emailBytes)
        try fields.end()
        guard Account.isEmail(address) else {
            throw fields.invalid("email", "must be an e-mail address, such as ada@example.org")
        }
        return AccountEmail(kind: .passwordReset, address: address)
    }

    private func form(email: String, problem: Problem?) -> Response {
        HTMLPage(
            title: "Hesper: forgotten password",
            body: """
                <h1>Forgot your password?</h1>
                <p>Enter the e-mail address of your account. If this address is verified, a link to set a new
                password is sent there.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(ForgottenPasswords.path)">
                <label for="email">E-mail</label>
                <input id="email" name="email" type="email" required autocomplete="username"
                    maxlength="\(Limits.emailBytes)" value="\(HTMLPage.escape(email))">
                <button>Send the link</button>
                </form>
                <p>If your address is not verified, ask the operator of this server for a
                <a href="\(CodeLink.reset.path)">code</a>.</p>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }

    private var requested: Response {
        HTMLPage(
            title: "Hesper: check your e-mail",
            body: """
                <h1>Check your e-mail</h1>
                <p>If an account has this address, and the address is verified, a link was sent. The link can be used once,
                within an hour.</p>
                <p>No e-mail? Check your spam folder. If it is not there, ask the operator of this server for a
                <a href="\(CodeLink.reset.path)">code</a>.</p>
                \(HTMLPage.webAppLink("Back to notes", hasWebApp: hasWebApp))
                """
        ).response(status: .accepted)
    }
}
