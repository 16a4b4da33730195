import HesperStore

/// An e-mail address that can be written into a header without quoting. In the header, it stands for exactly one recipient.
///
///     MailAddress("ada@example.org")?.text              // "ada@example.org"
///     MailAddress("bob,ada@example.org")                // nil: in a header, these are two recipients
public struct MailAddress: Sendable, Equatable {
    public let text: String

    /// The maximum length of the part before the `@`, in bytes (RFC 5321, 4.5.3.1.1).
    private static let localBytes = 64
    /// The characters besides letters, digits and dots that the part before the `@` may contain (`atext` in RFC 5322, 3.2.3).
    private static let marks = Set("!#$%&'*+-/=?^_`{|}~".unicodeScalars)

    /// Returns nil if the text is not an e-mail address, or if it contains invisible characters. Also returns nil if the address
    /// would need quoting in a header, because it contains quotes, commas, brackets or comments. Sign-up accepts some of these
    /// addresses. Letters of all scripts are accepted (RFC 6532).
    public init?(_ text: String) {
        guard Account.isEmail(text) else { return nil }
        let halves = text.split(separator: "@")
        guard halves.count == 2, halves[0].utf8.count <= MailAddress.localBytes,
            MailAddress.isDotted(halves[0], { MailAddress.isLetter($0) || MailAddress.marks.contains($0) }),
            MailAddress.isDotted(halves[1], { MailAddress.isLetter($0) || $0 == "-" })
        else { return nil }
        self.text = text
    }

    /// The part after the `@`.
    var domain: Substring { text.split(separator: "@").last ?? "" }

    private static func isDotted(_ text: Substring, _ isAtom: (Unicode.Scalar) -> Bool) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part.unicodeScalars.allSatisfy(isAtom)
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else { return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber:
            true
        default: false
        }
    }
}
