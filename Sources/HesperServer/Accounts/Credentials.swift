import HesperModel
import HesperStore

/// The body of a request to sign up or to sign in.
struct Credentials: Sendable {
    let email: String
    let password: String
    let deviceName: String
    let appVersion: String?
    /// The code of an invitation, or the secret of the link for the first account; nil if the request has neither.
    let invitation: String?
    /// Whether the token is returned in a cookie instead of in the body of the response.
    let wantsCookie: Bool

    /// The maximum size of a request body with credentials, in bytes. It allows for JSON escapes, which can make a text six times
    /// as long.
    static let bodyBytes = 32 << 10
    /// The maximum length of the field `appVersion`, in characters. The field contains the name and version of the client app.
    static let appVersionLength = 100
    static let invitationLength = 128

    /// Parses and validates a sign-up.
    static func signUp(_ json: JSON) throws(Problem) -> Credentials {
        var fields = try Fields(json)
        let email = try fields.string("email", bytes: 3...Limits.emailBytes)
        guard Account.isEmail(email) else {
            throw fields.invalid("email", "must be an e-mail address, such as ada@example.org")
        }
        return try read(&fields, email: email, passwordBytes: Limits.passwordBytes, isSignUp: true)
    }

    /// Parses a sign-in. The rules for new addresses and passwords are not applied, because they may have been different when the
    /// account was created.
    static func signIn(_ json: JSON) throws(Problem) -> Credentials {
        var fields = try Fields(json)
        let email = try fields.string("email", bytes: 0...Limits.emailBytes)
        return try read(&fields, email: email, passwordBytes: 0...Limits.passwordBytes.upperBound, isSignUp: false)
    }

    private static func read(
        _ fields: inout Fields, email: String, passwordBytes: ClosedRange<Int>, isSignUp: Bool
    ) throws(Problem) -> Credentials {
        let credentials = Credentials(
            email: email, password: try fields.string("password", bytes: passwordBytes),
            deviceName: try fields.string("deviceName", characters: 1...Limits.deviceNameLength),
            appVersion: try fields.optionalString("appVersion", characters: 0...appVersionLength),
            invitation: isSignUp ? try fields.optionalString("invitation", characters: 0...invitationLength) : nil,
            wantsCookie: try fields.optionalBool("cookie") ?? false)
        try fields.end()
        return credentials
    }
}
