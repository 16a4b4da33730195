import Crypto
import Foundation

/// As a Content Security Policy writes it.
func sha256(_ text: String) -> String {
    Data(Crypto.SHA256.hash(data: Data(text.utf8))).base64EncodedString()
}
