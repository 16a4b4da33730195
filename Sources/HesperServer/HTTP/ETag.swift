import Crypto
import HesperModel
import Hummingbird

/// The entity tag (ETag) of a response: a hash of its body (RFC 9110, 8.8.3). The ETag of a note also changes if two of its tags
/// are merged, because the body contains the list of tags.
struct ETag: Equatable, Sendable {
    let text: String

    init(of bytes: [UInt8]) {
        text = "\"\(SHA256.hash(data: bytes).prefix(16).hex)\""
    }

    /// The ETag of the bytes of an attachment: their SHA-256. The bytes of an attachment never change.
    init(sha256: String) { text = "\"\(sha256)\"" }

    /// Whether the value of `If-Match` or `If-None-Match` lists this ETag, or is `*`.
    ///
    /// The suffixes `-gzip` and `-deflate`, which the ETags of compressed responses have, are ignored.
    func matches(_ list: String) -> Bool {
        list.split(separator: ",").contains { element in
            var tag = element.trimmed
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return tag == "*" || tag == text || ContentCoding.allCases.contains { tag == ETag.compressed(text, $0) }
        }
    }

    /// The ETag of the same response in compressed form: the given ETag with the name of the coding as a suffix. Two responses
    /// with different bytes must not have the same ETag.
    static func compressed(_ tag: String, _ coding: ContentCoding) -> String { "\(tag.dropLast())-\(coding)\"" }
}
