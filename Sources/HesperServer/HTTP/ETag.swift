import Crypto
import HesperModel
import Hummingbird

/// The version of a response: a hash of its bytes, so that resolved members count too (RFC 9110, 8.8.3).
struct ETag: Equatable, Sendable {
    let text: String

    init(of bytes: [UInt8]) {
        text = "\"\(SHA256.hash(data: bytes).prefix(16).hex)\""
    }

    /// The tag of an attachment's bytes, which never change.
    init(sha256: String) { text = "\"\(sha256)\"" }

    /// Whether the value of `If-Match` or `If-None-Match` lists this tag, or is `*`.
    ///
    /// The suffixes `-gzip` and `-deflate`, which compressed responses add to the tag, are ignored.
    func matches(_ list: String) -> Bool {
        list.split(separator: ",").contains { element in
            var tag = element.trimmed
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return tag == "*" || tag == text || ContentCoding.allCases.contains { tag == ETag.compressed(text, $0) }
        }
    }

    /// The tag of the compressed response: different bytes of the same version.
    static func compressed(_ tag: String, _ coding: ContentCoding) -> String { "\(tag.dropLast())-\(coding)\"" }
}
