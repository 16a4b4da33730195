import Crypto
import HesperStore

/// The secret of the link that creates the first account, whatever the sign-up policy. `serve` prints the link while there is no
/// account; it works once (protocol.md, Signing in).
struct FirstAccount: Sendable {
    /// 256 random bits, new at every start, and stored nowhere.
    let invitation = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })

    /// Compares hashes, so that the time of the comparison reveals nothing about the secret.
    func accepts(_ invitation: String) -> Bool {
        SHA256.hash(data: Array(invitation.utf8)) == SHA256.hash(data: Array(self.invitation.utf8))
    }
}
