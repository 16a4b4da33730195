/// A link to a page of this server, with a one-time code in its URL.
public struct CodeLink: Sendable {
    public let path: String
    let parameter: String

    /// The page on which a new password is set.
    public static let reset = CodeLink(path: "/reset-password", parameter: "code")
    /// The page on which an e-mail address is verified.
    public static let verification = CodeLink(path: "/verify-email", parameter: "code")
    /// The page that opens the sign-up form of the web app with an invitation.
    public static let signUp = CodeLink(path: "/sign-up", parameter: "invitation")

    /// - Parameter origin: scheme, host and port of the server, as browsers reach it.
    public func url(_ code: OneTimeCode, at origin: String) -> String { "\(origin)\(path)?\(parameter)=\(code.text)" }
}
