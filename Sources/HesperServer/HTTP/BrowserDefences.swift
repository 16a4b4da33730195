import HTTPTypes

/// The security headers that every response has. They prevent pages of other sites from embedding the response (protocol.md, HTTP
/// rules).
enum BrowserDefences {
    /// Adds the headers to a response. A response without a Content Security Policy gets one that forbids everything, in case a
    /// browser displays the response as a document. HTML pages have a policy of their own.
    static func add(to headers: inout HTTPFields) {
        headers.append(.noSniffing)
        headers.append(.sameOriginResource)
        if headers[.contentSecurityPolicy] == nil { headers.append(.denyAll) }
        if headers[.referrerPolicy] == nil { headers.append(.noReferrer) }
    }

    /// The headers of an HTML page. They isolate the page from windows of other origins, and deny it access to the camera, the
    /// microphone and similar devices.
    static func page(policy: String, referrer: String) -> HTTPFields {
        [
            .contentSecurityPolicy: policy, .referrerPolicy: referrer, .crossOriginOpenerPolicy: "same-origin",
            .permissionsPolicy: devices.map { "\($0)=()" }.joined(separator: ", "),
        ]
    }

    private static let devices = [
        "accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid", "magnetometer", "microphone",
        "midi", "payment", "serial", "usb",
    ]
}

extension HTTPField {
    fileprivate static let noSniffing = HTTPField(name: .xContentTypeOptions, value: "nosniff")
    /// Forbids pages of other origins to embed the response. CORS requests are not affected.
    fileprivate static let sameOriginResource = HTTPField(name: .crossOriginResourcePolicy, value: "same-origin")
    fileprivate static let denyAll = HTTPField(
        name: .contentSecurityPolicy, value: "default-src 'none'; frame-ancestors 'none'")
    fileprivate static let noReferrer = HTTPField(name: .referrerPolicy, value: "no-referrer")
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .contentSecurityPolicy
    static let permissionsPolicy = HTTPField.Name("Permissions-Policy") ?? .contentSecurityPolicy
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy") ?? .contentSecurityPolicy
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .contentSecurityPolicy
}
