import HesperModel
import Hummingbird

/// `GET /sign-up`, the target of invitation links: redirects to the sign-up form of the web app.
struct InvitationLink: Resource {
    let signUp: SignUp
    let hasWebApp: Bool

    func add(to routes: inout Routes) {
        let link = CodeLink.signUp
        routes.open(.get, link.path, [link.parameter], cache: .never, isInContract: false, use: follow)
    }

    @Sendable private func follow(_ request: APIRequest) async throws -> Response {
        let invitation = request.query[CodeLink.signUp.parameter] ?? ""
        guard try await signUp.isInvited(by: invitation, from: request.address) else { return InvitationLink.invalid }
        guard hasWebApp else { return InvitationLink.withoutWebApp }
        // Only the code is copied from the request into the header `Location`, in its canonical form.
        let code = OneTimeCode(invitation)?.text ?? signUp.firstAccount.invitation
        return Response(status: .seeOther, headers: [.location: WebApp.signUpPath(invitation: code)])
    }

    private static let withoutWebApp = HTMLPage(
        title: "Hesper: invitation",
        body: """
            <h1>Create the account in your app</h1>
            <p>This server has no web app. In your app, enter the server's address and the invitation from the end of this link
            (<code>POST /v1/accounts</code>; <a href="/docs">documentation</a>).</p>
            """
    ).response()

    private static let invalid = HTMLPage(
        title: "Hesper: invalid link",
        body: """
            <h1>This link is no longer valid</h1>
            <p>The link was used already, or it has expired. Ask for another link. (The link to create the first account
            changes each time the server starts.)</p>
            """
    ).response(status: .forbidden)
}
