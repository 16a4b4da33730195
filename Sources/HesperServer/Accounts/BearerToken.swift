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
        // Bytes, not characters: every request comes by here.
        let scheme = header.utf8.prefix(7)
        guard scheme.elementsEqual("bearer ".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        let space = UInt8(ascii: " ")
        let text = header.utf8.dropFirst(7).drop { $0 == space }.prefix { $0 != space }
        guard header.utf8[text.endIndex...].allSatisfy({ $0 == space }) else { return nil }
        self.init(Substring(text))
    }

    /// Nil for anything that this server never gave out.
    init?(_ text: Substring) {
        guard text.utf8.count == BearerToken.length, text.utf8.starts(with: BearerToken.prefix.utf8) else { return nil }
        self.text = String(text)
    }

    private init(text: String) { self.text = text }

    var hash: TokenHash {
        var text = text
        let digest = text.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
        return TokenHash(bytes: Array(digest))
    }
}
