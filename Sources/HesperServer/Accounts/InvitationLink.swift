import HesperModel
import Hummingbird

/// `GET /sign-up`, where the link of an invitation leads: on to the web app, which makes the account.
struct InvitationLink: Resource {
    let signUp: SignUp
    let hasWebApp: Bool

    func add(to routes: inout Routes) {
        let link = CodeLink.signUp
        routes.open(.get, link.path, [link.parameter], keeping: .never, isInContract: false, use: follow)
    }

    @Sendable private func follow(_ call: Call) async throws -> Response {
        let invitation = call.query[CodeLink.signUp.parameter] ?? ""
        guard try await signUp.isInvited(by: invitation, from: call.address) else { return InvitationLink.used }
        guard hasWebApp else { return InvitationLink.withoutWebApp }
        // Only a valid code is written into a header.
        let code = OneTimeCode(invitation)?.text ?? signUp.firstAccount.invitation
        return Response(status: .seeOther, headers: [.location: WebApp.signUpPath(invitation: code)])
    }

    private static let withoutWebApp = HTMLPage(
        title: "Hesper: invitation",
        body: """
            <h1>Make the account in your app</h1>
            <p>This server has no web app. Enter its address and the invitation, the last part of this link, in your app
            (<code>POST /v1/accounts</code>; <a href="/docs">documentation</a>).</p>
            """
    ).response()

    private static let used = HTMLPage(
        title: "Hesper: this link is used up",
        body: """
            <h1>This link is used up</h1>
            <p>It has made an account already, or is too old: ask for another. (The link to the first account is another one
            after each start of the server.)</p>
            """
    ).response(status: .forbidden)
}
