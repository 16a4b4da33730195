package import Foundation

/// The address of a server: its scheme, host and port.
///
///     try ServerURL("https://Notes.example.org/").description   // "https://notes.example.org"
package struct ServerURL: Hashable, Sendable, CustomStringConvertible {
    /// The URL of the server, without a path.
    package let url: URL

    /// The reason why an address is refused.
    package enum Invalid: Error, Equatable {
        /// The text is not the URL of a server, or it has parts other than scheme, host and port.
        case notServerURL(String)
        /// The address begins with `http:`, which is allowed only for this machine.
        case notHTTPS(String)
    }

    /// Parses an address.
    /// - Throws: ``Invalid`` if the address does not begin with `https:`, or has a user, a path, a query or a fragment. For a
    ///   loopback address, `http:` is allowed too, because requests to it do not leave the machine.
    package init(_ text: String) throws(Invalid) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host?.lowercased(), !host.isEmpty, parts.user == nil, parts.password == nil,
            parts.query == nil, parts.fragment == nil, ["", "/"].contains(parts.path),
            ["http", "https"].contains(scheme)
        else { throw .notServerURL(text) }
        guard scheme == "https" || ServerURL.isLoopback(host) else { throw .notHTTPS(text) }
        var own = URLComponents()
        own.scheme = scheme
        own.host = host
        own.port = parts.port
        guard let url = own.url else { throw .notServerURL(text) }
        self.url = url
    }

    package var description: String { url.absoluteString }

    /// The URL of a path of this server; nil if the path does not begin with a slash or is invalid.
    package func url(path: String) -> URL? {
        guard path.hasPrefix("/") else { return nil }
        return URL(string: description + path)
    }

    /// Whether the host is a loopback address, `localhost`, or a name that ends with `.localhost`. Names are not resolved.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
