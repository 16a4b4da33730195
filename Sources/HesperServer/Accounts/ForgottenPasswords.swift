import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// `POST /v1/password-resets`, and the page that does the same: a link to a new password, by mail, for whoever forgot theirs.
struct ForgottenPasswords: Resource {
    let desk: MailDesk
    let hasWebApp: Bool

    static let path = "/forgot-password"

    func add(to routes: inout Routes) {
        routes.open(.post, "/v1/password-resets", keeping: .never, use: ask)
        guard desk.isOpen else { return }
        routes.open(.get, ForgottenPasswords.path, keeping: .never, isInContract: false) { _ in
            form(email: "", problem: nil)
        }
        routes.open(.post, ForgottenPasswords.path, keeping: .never, isInContract: false, use: submit)
    }

    /// Nothing is looked up before the answer, which is the same whoever has an account.
    @Sendable private func ask(_ call: Call) async throws -> Response {
        try desk.ask(try letter(await call.json(limit: Credentials.bodyBytes)), from: call.address)
        return Response(status: .accepted)
    }

    @Sendable private func submit(_ call: Call) async throws -> Response {
        let body = try await call.body(limit: Credentials.bodyBytes)
        let email = try Query(String(buffer: body), known: ["email"])["email"] ?? ""
        do {
            try desk.ask(try letter(["email": .string(email)]), from: call.address)
        } catch {
            return form(email: email, problem: error)
        }
        return asked
    }

    private func letter(_ json: JSON) throws(Problem) -> Letter {
        var fields = try Fields(json)
        let email = try fields.string("email", bytes: 3...Limits.emailBytes)
        try fields.end()
        guard Account.isEmail(email) else {
            throw fields.invalid("email", "is an e-mail address, such as ada@example.org")
        }
        return Letter(kind: .passwordReset, email: email)
    }

    private func form(email: String, problem: Problem?) -> Response {
        HTMLPage(
            title: "Hesper: forgotten password",
            body: """
                <h1>Forgot your password?</h1>
                <p>A link to a new one is sent to the e-mail address of your account, if you once said there that it is yours.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(ForgottenPasswords.path)">
                <label for="email">E-mail</label>
                <input id="email" name="email" type="email" required autocomplete="username"
                    maxlength="\(Limits.emailBytes)" value="\(HTMLPage.escape(email))">
                <button>Send the link</button>
                </form>
                <p>Otherwise ask whoever runs this server for a <a href="\(CodeLink.reset.path)">code</a>.</p>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }

    private var asked: Response {
        HTMLPage(
            title: "Hesper: look into your mail",
            body: """
                <h1>Look into your mail</h1>
                <p>If there is an account with this address, and the address was verified, a link is on its way. It is good once, within
                an hour.</p>
                <p>Nothing came? Look among the spam. Otherwise ask whoever runs this server for a
                <a href="\(CodeLink.reset.path)">code</a>.</p>
                \(HTMLPage.wayOn("Back to the notes", hasWebApp: hasWebApp))
                """
        ).response(status: .accepted)
    }
}
