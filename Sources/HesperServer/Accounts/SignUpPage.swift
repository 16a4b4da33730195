import HTTPTypes
import HesperModel
import HesperStore
import Hummingbird

/// The page behind an invitation, and behind the link that `serve` prints while there is no account: a form that makes one.
/// With the web app there, the link leads on to it.
struct SignUpPage: Resource {
    let signUp: SignUp
    let hasWebApp: Bool

    static let path = CodeLink.signUp.path

    func add(to routes: inout Routes) {
        routes.open(
            .get, SignUpPage.path, [CodeLink.signUp.parameter], keeping: .never, isInContract: false, use: show)
        routes.open(.post, SignUpPage.path, keeping: .never, isInContract: false, use: make)
    }

    @Sendable private func show(_ call: Call) async throws -> Response {
        let invitation = call.query[CodeLink.signUp.parameter] ?? ""
        guard try await signUp.isInvited(by: invitation, from: call.address) else { return SignUpPage.used }
        guard hasWebApp else { return form(invitation: invitation, email: "", problem: nil) }
        // Only what was found to be good is written into a header.
        let code = OneTimeCode(invitation)?.text ?? signUp.firstAccount.invitation
        return Response(status: .seeOther, headers: [.location: WebApp.signUpPath(invitation: code)])
    }

    @Sendable private func make(_ call: Call) async throws -> Response {
        let body = try await call.body(limit: Credentials.bodyBytes)
        let form = try Query(String(buffer: body), known: ["invitation", "email", "password"])
        let invitation = form["invitation"] ?? ""
        let email = form["email"] ?? ""
        // Where sign-up is open this page is nobody's way in either.
        guard try await signUp.isInvited(by: invitation, from: call.address) else { return SignUpPage.used }
        do {
            // Read like a sign-up of the API; the device signs in later.
            let credentials = try Credentials.signUp([
                "email": .string(email), "password": .string(form["password"] ?? ""), "deviceName": "browser",
            ])
            try await signUp(
                email: email, password: credentials.password, invitation: invitation, for: call,
                finish: { _, _ in })
        } catch let problem as Problem where problem.slug == .signUpClosed {
            return SignUpPage.used
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
        let password = Limits.passwordBytes
        return HTMLPage(
            title: "Hesper: make an account",
            body: """
                <h1>Make an account</h1>
                <p>Whoever has this link makes one, once.</p>
                \(HTMLPage.alert(problem))
                <form method="post" action="\(SignUpPage.path)">
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
            <p>It has made an account already, or is too old: ask for another. (The link to the first account is another one
            after each start of the server.)</p>
            """
    ).response(status: .forbidden)
}
