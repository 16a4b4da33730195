import HTTPTypes

extension APIRequest {
    /// Whether a program on this machine sent the request, addressed this machine by name, and no proxy forwarded it.
    ///
    /// The host is checked because of DNS rebinding: the page of any site can resolve its own name to 127.0.0.1 and send
    /// requests to this server, with that name in `Host`.
    var isFromThisMachine: Bool {
        guard address.isLoopback, !http.headers.contains(where: { APIRequest.isProxyHeader($0.name) }) else {
            return false
        }
        let host = http.head.authority?.lowercased() ?? ""
        return ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix($0 + ":") }
    }

    /// Whether proxies use this header to describe the client.
    private static func isProxyHeader(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-real-ip"].contains(name)
    }
}

extension ServerSettings {
    /// The sign-up policy that applies to a request.
    func signUp(for request: APIRequest) -> SignUpPolicy {
        signUpIsForThisMachine && !request.isFromThisMachine ? .closed : signUp
    }
}
