import HTTPTypes

/// What browsers are told of every answer, so that no answer is of use to another site's page (protocol.md, HTTP rules).
enum BrowserDefences {
    /// Answers that are shown as pages bring a policy of their own; what is none gets one that allows nothing, for whoever opens
    /// its address.
    static func add(to headers: inout HTTPFields) {
        headers.append(.noSniffing)
        headers.append(.forOurOwnPages)
        if headers[.contentSecurityPolicy] == nil { headers.append(.nothing) }
        if headers[.referrerPolicy] == nil { headers.append(.noReferrer) }
    }

    /// For pages: no window of another site keeps a hold of them, and they need none of the machine's devices.
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
    /// Pages elsewhere cannot show it or measure it; those that may call the API read it with CORS, which this is not about.
    fileprivate static let forOurOwnPages = HTTPField(name: .crossOriginResourcePolicy, value: "same-origin")
    fileprivate static let nothing = HTTPField(
        name: .contentSecurityPolicy, value: "default-src 'none'; frame-ancestors 'none'")
    fileprivate static let noReferrer = HTTPField(name: .referrerPolicy, value: "no-referrer")
}

extension HTTPField.Name {
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .contentSecurityPolicy
    static let permissionsPolicy = HTTPField.Name("Permissions-Policy") ?? .contentSecurityPolicy
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy") ?? .contentSecurityPolicy
    static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy") ?? .contentSecurityPolicy
}
