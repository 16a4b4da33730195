import HTTPTypes

/// Security headers of every response, which keep pages of other sites from using it (protocol.md, HTTP rules).
enum BrowserDefences {
    /// Adds the headers. HTML pages set a Content Security Policy of their own; other responses get one that forbids everything,
    /// in case a browser opens them as a document.
    static func add(to headers: inout HTTPFields) {
        headers.append(.noSniffing)
        headers.append(.sameOriginResource)
        if headers[.contentSecurityPolicy] == nil { headers.append(.denyAll) }
        if headers[.referrerPolicy] == nil { headers.append(.noReferrer) }
    }

    /// The headers of an HTML page: isolated from windows of other origins, without access to the devices of the machine.
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
    /// Pages of other origins cannot embed the response. Requests with CORS are not affected.
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
