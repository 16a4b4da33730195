import Foundation

/// The address of a service with the S3 API.
struct S3Endpoint: Sendable, Equatable {
    /// The scheme of the URL: `http` or `https`.
    let scheme: String
    /// The host name or IP address of the service. An IPv6 address is in brackets.
    let host: String
    /// The port of the service; nil for the default port of the scheme.
    let port: Int?
    /// The path before the bucket name. It is empty or starts with a slash.
    let path: String

    /// The endpoint of Amazon S3 in a region.
    init(region: String) {
        scheme = "https"
        host = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
        port = nil
        path = ""
    }

    /// Parses a URL of the form `https://host:port` with an optional path; nil for any other text.
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

    /// The value of the header `Host`.
    func authority(bucket: String?) -> String {
        "\(bucket.map { "\($0)." } ?? "")\(host)\(port.map { ":\($0)" } ?? "")"
    }
}

extension S3Endpoint: CustomStringConvertible {
    var description: String { "\(scheme)://\(authority(bucket: nil))\(path)" }
}
