import Crypto
import HesperStore

/// The secret in the link that creates the first account, under every sign-up policy. `serve` prints the link if there is no
/// account. The link works until an account exists (protocol.md, Signing in).
struct FirstAccount: Sendable {
    /// The secret: 256 random bits. They are generated at every start of the server and never stored.
    let invitation = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })

    /// Whether an invitation is the secret. Compares hashes, so that the time of the comparison reveals nothing about the secret.
    func accepts(_ invitation: String) -> Bool {
        SHA256.hash(data: Array(invitation.utf8)) == SHA256.hash(data: Array(self.invitation.utf8))
    }
}
