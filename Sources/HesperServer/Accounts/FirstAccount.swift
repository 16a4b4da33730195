import Crypto
import HesperStore

/// The secret in the link for creating the first account. `serve` prints this link if there is no account. The link is valid under
/// every sign-up policy, until an account exists (protocol.md, Signing in).
struct FirstAccount: Sendable {
    /// The secret: 256 random bits. They are generated at every start of the server and never stored.
    let invitation = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })

    /// Whether the invitation in a request equals the secret. Hashes are compared, so that the time of the comparison reveals
    /// nothing about the secret.
    func accepts(_ invitation: String) -> Bool {
        SHA256.hash(data: Array(invitation.utf8)) == SHA256.hash(data: Array(self.invitation.utf8))
    }
}
