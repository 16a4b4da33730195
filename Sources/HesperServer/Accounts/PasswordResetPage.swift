import HTTPTypes
import HesperModel
import Hummingbird

/// The page of a password reset: a form for the code and the new password.
struct PasswordResetPage: Resource {
    let resets: PasswordResets
    let hasWebApp: Bool

    func add(to routes: inout Routes) {
        routes.open(
            .get, CodeLink.reset.path, [CodeLink.reset.parameter], cache: .never, isInContract: false, use: show)
        routes.open(.post, CodeLink.reset.path, cache: .never, isInContract: false, use: reset)
    }

    /// Shows the form, but neither checks nor uses the code, because some mail programs open links before the user does.
    @Sendable private func show(_ request: APIRequest) -> Response {
        form(code: request.query[CodeLink.reset.parameter] ?? "", problem: nil)
    }

    @Sendable private func reset(_ request: APIRequest) async throws -> Response {
        let body = try await request.body(limit: Credentials.bodyBytes)
        let form = try Query(String(buffer: body), known: ["code", "password"])
        let code = form["code"] ?? ""
        do {
            let fields = try Fields(["password": .string(form["password"] ?? "")])
            var reader = fields
            let password = try reader.string("password", bytes: Limits.passwordBytes)
            try await resets(code: code, password: password, from: request.address)
        } catch let problem as Problem where problem.slug.status < 500 {
            return self.form(code: code, problem: problem)
        }
        return HTMLPage(
            title: "Hesper: password changed",
            body: """
                <h1>Password changed</h1>
                <p>All devices were signed out. Sign in with the new password. Changes that a device has not sent yet
                are not lost.</p>
                \(HTMLPage.webAppLink("Sign in", hasWebApp: hasWebApp))
                """
        ).response()
    }

    private func form(code: String, problem: Problem?) -> Response {
        let password = Limits.passwordBytes
        return HTMLPage(
            title: "Hesper: set a new password",
            body: """
                <h1>Set a new password</h1>
                <p>The code works once. All devices are signed out, but keep their data.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(CodeLink.reset.path)">
                <label for="code">Code</label>
                <input id="code" name="code" required autocomplete="off" autocapitalize="characters" spellcheck="false"
                    maxlength="\(OneTimeCode.typedLength)" value="\(HTMLPage.escape(code))">
                <label for="password">New password, at least \(password.lowerBound) characters</label>
                <input id="password" name="password" type="password" required autocomplete="new-password"
                    minlength="\(password.lowerBound)" maxlength="\(password.upperBound)">
                <button>Set password</button>
                </form>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }
}
