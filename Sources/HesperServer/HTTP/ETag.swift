import Crypto
import HesperModel
import Hummingbird

/// The version of an answer: a hash of its bytes, so that resolved members count too (RFC 9110, 8.8.3).
struct ETag: Equatable, Sendable {
    let text: String

    init(of bytes: [UInt8]) {
        text = "\"\(SHA256.hash(data: bytes).prefix(16).hex)\""
    }

    /// Of an attachment's bytes, which never change.
    init(sha256: String) { text = "\"\(sha256)\"" }

    /// Whether a list as `If-Match` and `If-None-Match` have it names this version, or any.
    ///
    /// A compressed answer carries its tag with `-gzip` or `-deflate`, which makes no difference here.
    func isIn(_ list: String) -> Bool {
        list.split(separator: ",").contains { element in
            var tag = element.trimmed
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return tag == "*" || tag == text || ContentCoding.allCases.contains { tag == ETag.packed(text, $0) }
        }
    }

    /// The tag of the same answer when it is packed: other bytes, of the same version.
    static func packed(_ tag: String, _ coding: ContentCoding) -> String { "\(tag.dropLast())-\(coding)\"" }
}
