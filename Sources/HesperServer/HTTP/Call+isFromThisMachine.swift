import HTTPTypes

extension Call {
    /// Whether a program on this machine sent it, to this machine by name, and no proxy in another's place.
    ///
    /// A page of any site can let its own name stand for 127.0.0.1 and then send requests here, which have that name as
    /// their `Host` (DNS rebinding).
    var isFromThisMachine: Bool {
        guard address.isLoopback, !request.headers.contains(where: { Call.tellsOfProxy($0.name) }) else { return false }
        let host = request.head.authority?.lowercased() ?? ""
        return ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix($0 + ":") }
    }

    /// Whether a header is one by which proxies tell for whom they ask.
    private static func tellsOfProxy(_ name: HTTPField.Name) -> Bool {
        let name = name.canonicalName
        return name.hasPrefix("x-forwarded-") || ["forwarded", "via", "x-real-ip"].contains(name)
    }
}

extension ServerSettings {
    /// Who may make an account by a request.
    func signUp(for call: Call) -> SignUpPolicy {
        signUpIsForThisMachine && !call.isFromThisMachine ? .closed : signUp
    }
}
