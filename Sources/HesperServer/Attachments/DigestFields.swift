import Foundation
import HTTPTypes
import HesperModel
import RawStructuredFieldValues

/// `Repr-Digest` and `Content-Digest` (RFC 9530): dictionaries of hashes by algorithm. Only SHA-256 is supported.
enum DigestFields {
    /// The SHA-256 in a digest header of a request, in hex. Nil if the request has no such header, or the header has no SHA-256.
    /// - Throws: ``Problem`` if the header is invalid.
    static func sha256(_ name: HTTPField.Name, in request: APIRequest) throws(Problem) -> String? {
        guard let text = request[name] else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { throw unreadable(name) }
        guard let member = members["sha-256"] else { return nil }
        guard case .item(let item) = member, case .undecodedByteSequence(let base64) = item.rfc9651BareItem,
            let bytes = Data(base64Encoded: base64), bytes.count == 32
        else { throw unreadable(name) }
        return bytes.hex
    }

    /// The value of a digest header that contains this SHA-256.
    static func value(sha256 hex: String) -> String {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return "sha-256=:\(Data(bytes).base64EncodedString()):"
    }

    /// The digest in the headers of a request whose body is a whole attachment; nil if there is none.
    static func expectation(in request: APIRequest) throws(Problem) -> AttachmentIntake.Expectation? {
        for name in [HTTPField.Name.reprDigest, .contentDigest] {
            guard let sha256 = try sha256(name, in: request) else { continue }
            return AttachmentIntake.Expectation(sha256: sha256) { mismatch(name, found: $0) }
        }
        return nil
    }

    static func mismatch(_ name: HTTPField.Name, found: String) -> Problem {
        Problem(
            .invalidField,
            "The digest of the received bytes is \(value(sha256: found)), which differs from \(name). Nothing was stored.",
            at: name.rawName)
    }

    private static func unreadable(_ name: HTTPField.Name) -> Problem {
        Problem(
            .invalidField,
            "\(name) must be a dictionary (RFC 9530) such as sha-256=:…:, with 44 characters of base64.",
            at: name.rawName)
    }
}

extension HTTPField.Name {
    static let reprDigest = HTTPField.Name("Repr-Digest") ?? .date
    static let contentDigest = HTTPField.Name("Content-Digest") ?? .date
}
