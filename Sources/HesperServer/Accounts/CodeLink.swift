/// A link to a page of this server, with a one-time code in its URL.
public struct CodeLink: Sendable {
    public let path: String
    let parameter: String

    /// The link to the page on which a user sets a new password.
    public static let reset = CodeLink(path: "/reset-password", parameter: "code")
    /// The link to the page on which a user verifies an e-mail address.
    public static let verification = CodeLink(path: "/verify-email", parameter: "code")
    /// The link to the page that opens the sign-up form of the web app with an invitation.
    public static let signUp = CodeLink(path: "/sign-up", parameter: "invitation")

    /// The URL of the page, with a code as its query parameter.
    /// - Parameter origin: scheme, host and port of the server, as browsers reach it.
    public func url(_ code: OneTimeCode, at origin: String) -> String { "\(origin)\(path)?\(parameter)=\(code.text)" }
}
