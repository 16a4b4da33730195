import Crypto
import HesperStore

/// What a device signs its requests with: 256 random bits, shown once, kept as a hash (protocol.md, Signing in).
struct BearerToken: Sendable {
    /// `hesper_` and 43 characters of base64url: easy to find where it should not be.
    let text: String

    static let prefix = "hesper_"
    static let length = prefix.utf8.count + 43

    /// A new one.
    static func random() -> BearerToken {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        return BearerToken(text: prefix + Base64URL.encode(key))
    }

    /// Of an `Authorization` header; nil for anything that this server never gave out.
    init?(authorization header: String) {
        let scheme = header.prefix(7)
        guard scheme.utf8.count == 7, scheme.lowercased() == "bearer " else { return nil }
        let text = header.dropFirst(7).trimmed
        guard text.utf8.count == BearerToken.length, text.hasPrefix(BearerToken.prefix) else { return nil }
        self.text = String(text)
    }

    private init(text: String) { self.text = text }

    var hash: TokenHash {
        var text = text
        let digest = text.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
        return TokenHash(bytes: Array(digest))
    }
}
