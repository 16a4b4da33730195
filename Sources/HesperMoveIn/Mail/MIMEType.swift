/// The value of `Content-Type` or `Content-Disposition`, with its parameters (RFC 2045, RFC 2231).
public struct MIMEType: Sendable, Equatable {
    /// The media type or the disposition, in lower case.
    public let name: String
    /// The parameters, by their names in lower case. Encoded values are decoded, and values that are split into several parameters
    /// (`filename*0*`) are joined.
    public let parameters: [String: String]

    /// - Parameters:
    ///   - value: the value of `Content-Type`; nil if the part has none.
    ///   - isDigest: whether the part is in a `multipart/digest`, whose parts are messages by default.
    init(_ value: String?, isDigest: Bool) {
        guard let value, let type = MIMEType(value), type.name.contains("/") else {
            self.init(name: isDigest ? "message/rfc822" : "text/plain", parameters: [:])
            return
        }
        self = type
    }

    private init(name: String, parameters: [String: String]) {
        self.name = name
        self.parameters = parameters
    }

    /// Parses the value of a header field; nil if the value is empty.
    public init?(_ value: String) {
        var scanner = Scanner(Array(value.unicodeScalars))
        let name = scanner.token(until: ";").trimmingSpace.lowercased()
        guard !name.isEmpty else { return nil }
        var raw: [String: String] = [:]
        // If two parameters have the same name, the first one is used.
        while let (name, value) = scanner.parameter() { if raw[name] == nil { raw[name] = value } }
        self.init(name: name, parameters: MIMEType.decoded(raw))
    }

    /// Joins values that are split into several parameters, and decodes encoded values.
    private static func decoded(_ raw: [String: String]) -> [String: String] {
        var parameters: [String: String] = [:]
        let bases = Set(raw.keys.map { String($0.prefix { $0 != "*" }) })
        for base in bases {
            if let value = raw[base] {
                parameters[base] = HeaderText.decoded(value)
            }
            // Some senders write a parameter twice, with and without an asterisk after its name, because old programs do not
            // support the asterisk. The value with the asterisk is exact, so it takes precedence.
            if let value = raw["\(base)*"] {
                parameters[base] = extended(value)
                continue
            }
            var (pieces, number, charset): ([UInt8], Int, String) = ([], 0, "utf-8")
            while true {
                if let value = raw["\(base)*\(number)*"] {
                    let parts =
                        number == 0 ? value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false) : []
                    if parts.count == 3 { charset = String(parts[0]) }
                    pieces += percentDecoded(parts.count == 3 ? String(parts[2]) : value)
                } else if let value = raw["\(base)*\(number)"] {
                    pieces += Array(value.utf8)
                } else {
                    break
                }
                number += 1
            }
            if number > 0 { parameters[base] = Charset.text(pieces[...], charset: charset) }
        }
        return parameters
    }

    private static func extended(_ value: String) -> String {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return value }
        return Charset.text(percentDecoded(String(parts[2]))[...], charset: String(parts[0]))
    }

    private static func percentDecoded(_ text: String) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), Substring(text).utf8)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.count >= 2
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

/// Reads tokens and quoted strings of a header field.
private struct Scanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    /// Reads the text up to a character, and skips that character.
    mutating func token(until end: Unicode.Scalar) -> String {
        var text = String.UnicodeScalarView()
        while index < scalars.count, scalars[index] != end {
            text.append(scalars[index])
            index += 1
        }
        index += 1
        return String(text)
    }

    /// Reads the next parameter; nil after the last one.
    mutating func parameter() -> (name: String, value: String)? {
        while index < scalars.count {
            let name = name()
            guard index < scalars.count, scalars[index] == "=" else {
                index += 1
                continue
            }
            index += 1
            skipSpace()
            let value = index < scalars.count && scalars[index] == "\"" ? quoted() : token(until: ";")
            return (name, String(value.trimmingSpace))
        }
        return nil
    }

    private mutating func name() -> String {
        var text = String.UnicodeScalarView()
        while index < scalars.count, scalars[index] != "=", scalars[index] != ";" {
            text.append(scalars[index])
            index += 1
        }
        return String(text).trimmingSpace.lowercased()
    }

    private mutating func skipSpace() {
        while index < scalars.count, scalars[index] == " " || scalars[index] == "\t" { index += 1 }
    }

    private mutating func quoted() -> String {
        var text = String.UnicodeScalarView()
        index += 1
        while index < scalars.count, scalars[index] != "\"" {
            if scalars[index] == "\\", index + 1 < scalars.count { index += 1 }
            text.append(scalars[index])
            index += 1
        }
        _ = token(until: ";")
        return String(text)
    }
}
