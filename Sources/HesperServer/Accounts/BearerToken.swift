import Crypto
import Foundation
import HesperStore

/// The token of a device (256 random bits), or an access token (215 random bits). The server returns a token once and stores only
/// its hash (protocol.md, Signing in).
struct BearerToken: Sendable {
    /// `hesper_` and 43 characters of base64url. The prefix makes leaked tokens easy to find.
    let text: String

    static let prefix = "hesper_"
    static let length = prefix.utf8.count + 43

    /// Creates the token of a new device.
    static func random() -> BearerToken {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        return BearerToken(text: prefix + Base64URL.encode(key))
    }

    /// Creates a new access token from lower-case letters and digits: 215 random bits. Capitals are not used, because an access
    /// token can be part of an e-mail address, and mail servers may change the case of an address.
    static func randomForAddress() -> BearerToken {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567")
        let bytes = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * 43)).withUnsafeBytes { Array($0) }
        return BearerToken(text: prefix + String(bytes.map { alphabet[Int($0 & 31)] }))
    }

    /// Parses the value of an `Authorization` header with the scheme `Bearer`. Nil if the scheme is different, or if the token does
    /// not have the form of this server's tokens.
    init?(authorization header: String) {
        // The bytes in UTF-8 are compared instead of characters, because this is faster, and this code runs for every request.
        let scheme = header.utf8.prefix(7)
        guard scheme.elementsEqual("bearer ".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        let space = UInt8(ascii: " ")
        let text = header.utf8.dropFirst(7).drop { $0 == space }.prefix { $0 != space }
        guard header.utf8[text.endIndex...].allSatisfy({ $0 == space }) else { return nil }
        self.init(Substring(text))
    }

    /// Parses the value of an `Authorization` header for HTTP Basic (RFC 7617) with a token as the password. The user name is
    /// ignored. Nil if the header does not have this form.
    init?(basic header: String) {
        let scheme = header.utf8.prefix(6)
        guard scheme.elementsEqual("basic ".utf8, by: { $0 | 0x20 == $1 }),
            let data = Data(base64Encoded: header.dropFirst(6).trimmingCharacters(in: .whitespaces)),
            let text = String(validating: data, as: UTF8.self), let colon = text.firstIndex(of: ":")
        else { return nil }
        self.init(text[text.index(after: colon)...])
    }

    /// Parses the text of a token. Nil if it does not have the form of this server's tokens.
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
