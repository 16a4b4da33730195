import Crypto
import HesperStore

/// The secret of a one-time link: 125 random bits, as five groups of five characters. A user can also read it aloud or type it.
///
///     OneTimeCode.random().text                           // "K7QM2-9XW4T-0HRCD-ZB8N3-6VJPA"
///     OneTimeCode("k7qm2 9xw4t ohrcd zb8n3 6vjpa")?.text   // the same
public struct OneTimeCode: Sendable {
    public let text: String

    /// The digits and letters of Crockford's Base 32. It omits I, L and O, which look like digits, and U, so that fewer codes
    /// contain an offensive word by accident.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    private static let (groups, groupLength) = (5, 5)
    /// The maximum length of a typed code, in characters.
    static let typedLength = 128

    public static func random() -> OneTimeCode {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
        return OneTimeCode(letters: key.prefix(groups * groupLength).map { alphabet[Int($0 & 31)] })
    }

    /// Parses a code that a user has typed. Case, spaces and hyphens are ignored; O is read as 0, and I and L as 1. Nil if the
    /// code is invalid.
    public init?(_ typed: String) {
        guard typed.utf8.count <= OneTimeCode.typedLength else { return nil }
        var letters: [Character] = []
        for character in typed.uppercased() where character != "-" && character != " " {
            switch character {
            case "O": letters.append("0")
            case "I", "L": letters.append("1")
            default:
                guard OneTimeCode.alphabet.contains(character) else { return nil }
                letters.append(character)
            }
        }
        guard letters.count == OneTimeCode.groups * OneTimeCode.groupLength else { return nil }
        self.init(letters: letters)
    }

    private init(letters: [Character]) {
        text = (0..<OneTimeCode.groups).map { group in
            String(letters[group * OneTimeCode.groupLength..<(group + 1) * OneTimeCode.groupLength])
        }.joined(separator: "-")
    }

    /// The hash that is stored instead of the code.
    public var hash: TokenHash { TokenHash(bytes: Array(SHA256.hash(data: Array(text.utf8)))) }
}
