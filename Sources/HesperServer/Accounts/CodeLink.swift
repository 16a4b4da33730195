/// A page of this server that a code leads to.
public struct CodeLink: Sendable {
    public let path: String
    let parameter: String

    /// Sets a new password.
    public static let reset = CodeLink(path: "/reset-password", parameter: "code")
    /// Verifies an e-mail address.
    public static let verification = CodeLink(path: "/verify-email", parameter: "code")
    /// Makes an account.
    public static let signUp = CodeLink(path: "/sign-up", parameter: "invitation")

    /// - Parameter origin: scheme, host and port, as people reach the server.
    public func url(_ code: OneTimeCode, at origin: String) -> String { "\(origin)\(path)?\(parameter)=\(code.text)" }
}
