import HesperModel
import HesperStore

/// What a device brings when it signs up or in.
struct Credentials: Sendable {
    let email: String
    let password: String
    let deviceName: String
    let appVersion: String?
    /// The code of an invitation, or the secret of the link that makes the first account.
    let invitation: String?
    /// Whether the browser keeps the token, in a cookie, instead of the page.
    let wantsCookie: Bool

    /// Bytes that a request with nothing but credentials can need: each may be written as an escape six times its length.
    static let bodyBytes = 32 << 10
    /// Of the app and its version, in characters.
    static let appVersionLength = 100
    static let invitationLength = 128

    /// Reads a sign-up.
    static func signUp(_ json: JSON) throws(Problem) -> Credentials {
        var fields = try Fields(json)
        let email = try fields.string("email", bytes: 3...Limits.emailBytes)
        guard Account.isEmail(email) else {
            throw fields.invalid("email", "is an e-mail address, such as ada@example.org")
        }
        return try read(&fields, email: email, passwordBytes: Limits.passwordBytes, isSignUp: true)
    }

    /// Reads a sign-in, which judges nothing that sign-up has judged.
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
