package import HesperModel

/// The account, the device and the token of a local copy. It is stored in the local copy.
///
/// The account is kept when the session ends, because only the same account may continue to use the local copy (clients.md, rule 13).
package struct Session: Sendable, Equatable {
    package var server: ServerURL
    package var account: UniqueID
    package var email: String
    /// The ID of the device. The clocks of the device's edits contain this ID.
    package var device: NodeID
    package var deviceName: String
    /// The secret that authenticates the device. Nil after signing out, and in a database file that was copied from another device.
    package var token: String?

    package init(
        server: ServerURL, account: UniqueID, email: String, device: NodeID, deviceName: String, token: String?
    ) {
        self.server = server
        self.account = account
        self.email = email
        self.device = device
        self.deviceName = deviceName
        self.token = token
    }
}

extension Session {
    /// The session as it is stored in the local copy.
    package var json: JSON {
        var members: [(String, JSON)] = [
            ("server", .string(server.description)), ("account", .string(account.description)),
            ("email", .string(email)), ("device", .string(device.description)), ("deviceName", .string(deviceName)),
        ]
        if let token { members.append(("token", .string(token))) }
        return .object(JSONObject(members))
    }

    package init?(json: JSON) {
        guard case .object(let json) = json, let text = json["server"]?.string, let server = try? ServerURL(text),
            let account = json["account"]?.string.flatMap(UniqueID.init), let email = json["email"]?.string,
            let device = json["device"]?.string.flatMap(NodeID.init), let deviceName = json["deviceName"]?.string
        else { return nil }
        self.init(
            server: server, account: account, email: email, device: device, deviceName: deviceName,
            token: json["token"]?.string)
    }

    /// Reads the response to a sign-up or sign-in request.
    init?(server: ServerURL, signedIn body: [UInt8]) {
        guard case .object(let json)? = try? JSONReader.read(body), let account = json["account"],
            let device = json["device"], let token = json["token"]?.string,
            let accountID = account["uniqueID"]?.string.flatMap(UniqueID.init), let email = account["email"]?.string,
            let node = device["uniqueID"]?.string.flatMap(NodeID.init)
        else { return nil }
        self.init(
            server: server, account: accountID, email: email, device: node,
            deviceName: device["name"]?.string ?? "", token: token)
    }
}

/// The printed forms of a session leave out the token, which must not get into logs.
extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(email), device \(device), \(server)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror {
        Mirror(self, children: ["server": server, "email": email, "device": device, "isSignedIn": token != nil])
    }
}
