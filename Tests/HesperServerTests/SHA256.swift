import Crypto
import Foundation

/// The SHA-256 of a text in base64, as in a Content Security Policy.
func sha256(_ text: String) -> String {
    Data(Crypto.SHA256.hash(data: Data(text.utf8))).base64EncodedString()
}
