import HTTPTypes
import HesperModel
import Hummingbird

/// The page behind a link to a new password: a form for it, which also takes a code that was read out.
struct PasswordResetPage: Resource {
    let resets: PasswordResets
    let hasWebApp: Bool

    func add(to routes: inout Routes) {
        routes.open(
            .get, CodeLink.reset.path, [CodeLink.reset.parameter], keeping: .never, isInContract: false, use: show)
        routes.open(.post, CodeLink.reset.path, keeping: .never, isInContract: false, use: reset)
    }

    /// It says nothing of the code: opening a link, as mail programs do to look at it, uses nothing up and tells nothing.
    @Sendable private func show(_ call: Call) -> Response {
        form(code: call.query[CodeLink.reset.parameter] ?? "", problem: nil)
    }

    @Sendable private func reset(_ call: Call) async throws -> Response {
        let body = try await call.body(limit: Credentials.bodyBytes)
        let form = try Query(String(buffer: body), known: ["code", "password"])
        let code = form["code"] ?? ""
        do {
            let fields = try Fields(["password": .string(form["password"] ?? "")])
            var reader = fields
            let password = try reader.string("password", bytes: Limits.passwordBytes)
            try await resets(code: code, password: password, from: call.address)
        } catch let problem as Problem where problem.slug.status < 500 {
            return self.form(code: code, problem: problem)
        }
        return HTMLPage(
            title: "Hesper: the new password holds",
            body: """
                <h1>The new password holds</h1>
                <p>Every device was signed out. Sign in again with it; what a device has not sent yet, it still has.</p>
                \(HTMLPage.wayOn("Sign in", hasWebApp: hasWebApp))
                """
        ).response()
    }

    private func form(code: String, problem: Problem?) -> Response {
        let password = Limits.passwordBytes
        return HTMLPage(
            title: "Hesper: a new password",
            body: """
                <h1>Set a new password</h1>
                <p>The code is good once. Every device is signed out, and keeps what it holds.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(CodeLink.reset.path)">
                <label for="code">Code</label>
                <input id="code" name="code" required autocomplete="off" autocapitalize="characters" spellcheck="false"
                    maxlength="\(OneTimeCode.typedLength)" value="\(HTMLPage.escape(code))">
                <label for="password">New password, at least \(password.lowerBound) characters</label>
                <input id="password" name="password" type="password" required autocomplete="new-password"
                    minlength="\(password.lowerBound)" maxlength="\(password.upperBound)">
                <button>Set the password</button>
                </form>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }
}
