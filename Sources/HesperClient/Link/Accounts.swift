internal import HesperModel

/// Signs users up, in and out on one server. This type stores nothing; the caller stores the ``Session``. Passwords are not kept in
/// memory after the request.
package struct Accounts: Sendable {
    package let server: ServerURL
    private let transport: any Transport

    package init(server: ServerURL, transport: any Transport) {
        self.server = server
        self.transport = transport
    }

    /// The values that are sent to sign up or sign in.
    package struct Credentials: Sendable {
        package var email: String
        package var password: String
        /// The name of the device in the account's list of devices.
        package var deviceName: String
        /// The app and its version, such as `Recipes 1.2`.
        package var appVersion: String?

        package init(email: String, password: String, deviceName: String, appVersion: String? = nil) {
            self.email = email
            self.password = password
            self.deviceName = deviceName
            self.appVersion = appVersion
        }
    }

    /// Reads the features and limits of the server.
    /// - Throws: ``AccountError/serverTooOld(missing:)`` if the server lacks a feature that sync needs.
    package func serverInfo() async throws(AccountError) -> ServerInfo {
        let response = try await send(ServerRequest("GET", "/v1/server"))
        guard response.isSuccess, let info = ServerInfo(response.body) else {
            let problem = ServerProblem(response)
            throw response.status >= 500 || problem.kind != nil && problem.kind != .notFound
                ? AccountError(problem) : .notHesper
        }
        guard info.missingFeatures.isEmpty else { throw .serverTooOld(missing: info.missingFeatures) }
        return info
    }

    /// Creates an account, and signs in as its first device.
    /// - Parameter invitation: a code from the operator of the server.
    package func signUp(_ credentials: Credentials, invitation: String? = nil) async throws(AccountError) -> Session {
        try await enter("/v1/accounts", credentials, invitation: invitation)
    }

    /// Signs in as a new device of an account.
    /// - Parameter earlier: the session of the local copy; nil if the copy belongs to no account yet.
    /// - Throws: ``AccountError/otherAccount(_:)`` if `earlier` belongs to a different account (clients.md, rule 13).
    package func signIn(
        _ credentials: Credentials, continuing earlier: Session? = nil
    ) async throws(AccountError) -> Session {
        let session = try await enter("/v1/devices", credentials)
        guard let earlier, earlier.account != session.account else { return session }
        // The local copy belongs to a different account, so the new device is signed out again. If signing out fails, the device
        // remains in the account's list of devices, where the owner can remove it.
        try? await signOut(session)
        throw .otherAccount(earlier.email)
    }

    /// Revokes the token of a session. No error is thrown if the token was already revoked.
    package func signOut(_ session: Session) async throws(AccountError) {
        guard let token = session.token else { return }
        let response = try await send(ServerRequest("DELETE", "/v1/devices/\(session.device)", token: token))
        guard response.isSuccess || [401, 404].contains(response.status) else {
            throw AccountError(ServerProblem(response))
        }
    }

    private func enter(
        _ path: String, _ credentials: Credentials, invitation: String? = nil
    ) async throws(AccountError) -> Session {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("email", credentials.email)
            writer.member("password", credentials.password)
            writer.member("deviceName", credentials.deviceName)
            if let version = credentials.appVersion { writer.member("appVersion", version) }
            if let invitation { writer.member("invitation", invitation) }
        }
        let headers = ["content-type": "application/json"]
        let response = try await send(ServerRequest("POST", path, headers: headers, body: writer.bytes))
        guard response.isSuccess else {
            let problem = ServerProblem(response)
            throw problem.kind == nil && [404, 405].contains(response.status) ? .notHesper : AccountError(problem)
        }
        guard let session = Session(server: server, signedIn: response.body) else { throw .notHesper }
        return session
    }

    private func send(_ request: ServerRequest) async throws(AccountError) -> ServerResponse {
        do throws(NoResponse) {
            return try await transport.send(request)
        } catch {
            throw .offline(error.description)
        }
    }
}
