import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// The page behind the link that `serve` prints while there is no account: a form that makes the first one.
struct FirstAccountPage: Resource {
    let store: any Store
    let signUp: SignUp

    static let path = "/first-account"

    func add(to routes: inout Routes) {
        routes.open(
            .get, FirstAccountPage.path, ["invitation"], keeping: .never, isInContract: false, use: show)
        routes.open(.post, FirstAccountPage.path, keeping: .never, isInContract: false, use: make)
    }

    @Sendable private func show(_ call: Call) async throws -> Response {
        let invitation = call.query["invitation"] ?? ""
        guard signUp.firstAccount.accepts(invitation), try await store.read({ try $0.accounts() }).isEmpty else {
            return FirstAccountPage.used
        }
        return form(invitation: invitation, email: "", problem: nil)
    }

    @Sendable private func make(_ call: Call) async throws -> Response {
        let body = try await call.body(limit: Credentials.bodyBytes)
        let form = try Query(String(buffer: body), known: ["invitation", "email", "password"])
        let invitation = form["invitation"] ?? ""
        let email = form["email"] ?? ""
        guard signUp.firstAccount.accepts(invitation) else { return FirstAccountPage.used }
        do {
            // Read like a sign-up of the API; the device signs in later.
            let credentials = try Credentials.signUp([
                "email": .string(email), "password": .string(form["password"] ?? ""), "deviceName": "browser",
            ])
            try await signUp(
                email: email, password: credentials.password, invitation: invitation, from: call.address,
                finish: { _, _ in })
        } catch let problem as Problem where problem.slug == .signUpClosed {
            return FirstAccountPage.used
        } catch let problem as Problem where problem.slug.status < 500 {
            return self.form(invitation: invitation, email: email, problem: problem)
        }
        return HTMLPage(
            title: "Hesper: welcome",
            body: """
                <h1>Welcome to Hesper</h1>
                <p>The account for <strong>\(HTMLPage.escape(email))</strong> is made. Sign in with it in your app, or see
                <a href="/docs">how an app does that</a>.</p>
                """
        ).response(status: .created)
    }

    private func form(invitation: String, email: String, problem: Problem?) -> Response {
        let error = problem.map { "<p class=\"error\" role=\"alert\">\(HTMLPage.escape($0.detail))</p>" } ?? ""
        let password = Limits.passwordBytes
        return HTMLPage(
            title: "Hesper: the first account",
            body: """
                <h1>Make the first account</h1>
                <p>This server has no account yet. Whoever has this link makes the first, once.</p>
                \(error)
                <form method="post" action="\(FirstAccountPage.path)">
                <input type="hidden" name="invitation" value="\(HTMLPage.escape(invitation))">
                <label for="email">E-mail</label>
                <input id="email" name="email" type="email" required autocomplete="username"
                    maxlength="\(Limits.emailBytes)" value="\(HTMLPage.escape(email))">
                <label for="password">Password, at least \(password.lowerBound) characters</label>
                <input id="password" name="password" type="password" required autocomplete="new-password"
                    minlength="\(password.lowerBound)" maxlength="\(password.upperBound)">
                <button>Make the account</button>
                </form>
                """
        ).response(status: problem.map { .init(code: $0.slug.status) } ?? .ok)
    }

    private static let used = HTMLPage(
        title: "Hesper: this link is used up",
        body: """
            <h1>This link is used up</h1>
            <p>The first account is made already, or the server was started again since and printed another link.</p>
            """
    ).response(status: .forbidden)
}
