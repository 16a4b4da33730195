import HesperModel

/// The URL of a webhook's receiver, in the few forms that are accepted. A URL that different parsers could read differently is
/// refused, so that the host that is checked is the host to which the request is sent.
struct WebhookURL: Sendable, Equatable {
    /// The reason why a text is not a valid URL: the end of a sentence that begins with "url".
    struct Invalid: Error, Equatable {
        let reason: String
    }

    /// The maximum length, in bytes.
    static let maximumLength = 2_048

    let isEncrypted: Bool
    /// The host in lower case, without the brackets of an IPv6 address.
    let host: String
    let port: Int
    /// The path and the query.
    let path: String

    /// The host as an IP address; nil if the host is a name.
    var address: IPAddress? { IPAddress(host) }

    /// The URL in the form in which it is requested.
    var text: String {
        let host = host.contains(":") ? "[\(host)]" : host
        let isDefault = port == (isEncrypted ? 443 : 80)
        return "\(isEncrypted ? "https" : "http")://\(host)\(isDefault ? "" : ":\(port)")\(path)"
    }

    init(_ text: String) throws(Invalid) {
        guard text.utf8.count <= WebhookURL.maximumLength else {
            throw Invalid(reason: "must have at most \(WebhookURL.maximumLength) bytes")
        }
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else {
            throw Invalid(reason: "must begin with https:// or http://")
        }
        isEncrypted = scheme == "https://"
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest.dropFirst(authority.count)
        guard !authority.contains("@") else { throw Invalid(reason: "must not contain a user name or a password") }
        guard !tail.contains("#") else { throw Invalid(reason: "must not contain a fragment") }
        guard tail.utf8.allSatisfy(WebhookURL.isAllowedInPath) else {
            throw Invalid(reason: "contains characters that must be percent-encoded")
        }
        path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        let (host, digits) = WebhookURL.split(authority)
        self.host = host.lowercased()
        guard WebhookURL.isHost(host, isBracketed: authority.hasPrefix("[")) else {
            throw Invalid(reason: "must contain a host name in ASCII or an IP address")
        }
        guard let digits else {
            port = isEncrypted ? 443 : 80
            return
        }
        guard let port = UInt16(digits), digits.utf8.allSatisfy({ (48...57).contains($0) }),
            [80, 443].contains(port) || port >= 1_024
        else { throw Invalid(reason: "must have port 80, 443, or 1024 to 65535") }
        self.port = Int(port)
    }

    /// Splits a host from its port; the port is nil if there is none.
    private static func split(_ authority: Substring) -> (host: Substring, port: Substring?) {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            let host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            return rest.isEmpty ? (host, nil) : (host, rest.hasPrefix(":") ? rest.dropFirst() : "")
        }
        guard let colon = authority.lastIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isHost(_ host: Substring, isBracketed: Bool) -> Bool {
        if isBracketed { return host.contains(":") && IPAddress(host) != nil && !host.contains("%") }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.utf8.allSatisfy {
                        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                            || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                    }
            }
    }

    /// Whether a byte may occur in a path or a query (RFC 3986, 3.3 and 3.4).
    private static func isAllowedInPath(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }
}
