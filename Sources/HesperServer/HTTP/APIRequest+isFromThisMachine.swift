import HTTPTypes

extension APIRequest {
    /// Whether a program on this machine sent the request to `localhost`, `127.0.0.1` or `[::1]`, and no proxy forwarded it.
    ///
    /// The `Host` header is checked as a defence against DNS rebinding. The owner of any web site can make the site's name resolve
    /// to 127.0.0.1, so that pages of the site send requests to this server. Those requests have the name of the site in `Host`.
    var isFromThisMachine: Bool {
        guard address.isLoopback, !http.headers.contains(where: { APIRequest.isProxyHeader($0.name) }) else {
            return false
        }
        let host = http.head.authority?.lowercased() ?? ""
        return ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix($0 + ":") }
    }

    /// Whether proxies add this header to describe the client of a request that they forward.
    private static func isProxyHeader(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-real-ip"].contains(name)
    }
}

extension ServerSettings {
    /// The sign-up policy for a request. If only this machine may sign up and another machine sent the request, the policy is
    /// `closed`.
    func signUp(for request: APIRequest) -> SignUpPolicy {
        signUpIsForThisMachine && !request.isFromThisMachine ? .closed : signUp
    }
}
