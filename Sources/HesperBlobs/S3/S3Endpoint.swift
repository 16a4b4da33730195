import Foundation

/// A server that speaks S3's protocol.
struct S3Endpoint: Sendable, Equatable {
    /// `http` or `https`.
    let scheme: String
    /// In brackets if it is an IPv6 address.
    let host: String
    /// Nil for the scheme's own.
    let port: Int?
    /// What is before a bucket's name; empty, or with a slash in front.
    let path: String

    /// Amazon's own of a region.
    init(region: String) {
        scheme = "https"
        host = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
        port = nil
        path = ""
    }

    /// Reads `https://host:port`; nil for anything that is more or less than that, but for a path.
    init?(_ text: String) {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil,
            url.query == nil, url.fragment == nil
        else { return nil }
        guard host.wholeMatch(of: #/[A-Za-z0-9.\-_]+|\[[0-9A-Fa-f:.]+\]/#) != nil,
            url.port.map({ (1...65_535).contains($0) }) ?? true
        else { return nil }
        var path = url.path
        while path.hasSuffix("/") { path.removeLast() }
        guard path.wholeMatch(of: #/(/[A-Za-z0-9.\-_]+)*/#) != nil else { return nil }
        self.scheme = scheme
        self.host = host
        port = url.port == (scheme == "https" ? 443 : 80) ? nil : url.port
        self.path = path
    }

    /// As the header `Host` has it.
    func authority(bucket: String?) -> String {
        "\(bucket.map { "\($0)." } ?? "")\(host)\(port.map { ":\($0)" } ?? "")"
    }
}

extension S3Endpoint: CustomStringConvertible {
    var description: String { "\(scheme)://\(authority(bucket: nil))\(path)" }
}
