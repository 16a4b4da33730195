import Foundation
import HTTPTypes
import HesperModel
import RawStructuredFieldValues

/// `Repr-Digest` and `Content-Digest` (RFC 9530): dictionaries of algorithms and hashes, of which SHA-256 counts here.
enum DigestFields {
    /// The SHA-256 that a request says, in hex; nil if it says none.
    /// - Throws: ``Problem`` about what cannot be read.
    static func sha256(_ name: HTTPField.Name, in call: Call) throws(Problem) -> String? {
        guard let text = call[name] else { return nil }
        var parser = StructuredFieldValueParser(Array(text.utf8))
        guard let members = try? parser.parseDictionaryFieldValue() else { throw unreadable(name) }
        guard let member = members["sha-256"] else { return nil }
        guard case .item(let item) = member, case .undecodedByteSequence(let base64) = item.rfc9651BareItem,
            let bytes = Data(base64Encoded: base64), bytes.count == 32
        else { throw unreadable(name) }
        return bytes.hex
    }

    /// As it is sent with bytes that have this SHA-256.
    static func value(sha256 hex: String) -> String {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return "sha-256=:\(Data(bytes).base64EncodedString()):"
    }

    /// What all bytes of a request that brings them in one go must have.
    static func expectation(in call: Call) throws(Problem) -> AttachmentIntake.Expectation? {
        for name in [HTTPField.Name.reprDigest, .contentDigest] {
            guard let sha256 = try sha256(name, in: call) else { continue }
            return AttachmentIntake.Expectation(sha256: sha256) { mismatch(name, found: $0) }
        }
        return nil
    }

    static func mismatch(_ name: HTTPField.Name, found: String) -> Problem {
        Problem(
            .invalidField,
            "The bytes that came have \(value(sha256: found)), which is not what \(name) says: none was kept.",
            at: name.rawName)
    }

    private static func unreadable(_ name: HTTPField.Name) -> Problem {
        Problem(
            .invalidField,
            "\(name) is a dictionary as RFC 9530 has it, such as sha-256=:…: with 44 characters of base64.",
            at: name.rawName)
    }
}

extension HTTPField.Name {
    static let reprDigest = HTTPField.Name("Repr-Digest") ?? .date
    static let contentDigest = HTTPField.Name("Content-Digest") ?? .date
}
