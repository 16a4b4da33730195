internal import HesperClient
internal import HesperModel

/// Accounts and devices: sign-up, sign-in, sign-out and revocation (protocol.md, Signing in).
extension ServerCore {
    private static let features = [
        "sync", "notes", "tags", "attachments", "uploads", "objects", "object-texts", "object-files",
        "deleted-objects", "digests", "events", "revocations",
        "sign-out-others", "text-descent", "device-names",
    ]

    /// The features that a server lacks if ``lacksObjectTexts`` is true.
    private static let objectTextFeatures = ["object-texts", "object-files"]

    func info(at now: Timestamp) -> ServerResponse {
        .object(headers: ["cache-control": "no-store"]) { writer in
            writer.member("name", "Hesper")
            writer.member("version", "0.0.0")
            let lacking = lacksObjectTexts ? ServerCore.objectTextFeatures : []
            let features = ServerCore.features.filter { !lacking.contains($0) }
            writer.member("features", .array(features.map { .string($0) }))
            writer.member("signUp", "open")
            writer.member("needsFirstAccount", accounts.isEmpty)
            writer.name("limits")
            writer.object { writer in
                let limits: [(String, Int)] = [
                    ("textBytes", Limits.textBytes), ("textAfter", Limits.textAfter),
                    ("tagNameBytes", Limits.tagNameBytes), ("attributeValueBytes", Limits.attributeValueBytes),
                    ("attributes", Limits.attributes), ("objectAttributes", Limits.objectAttributes),
                    ("objectTexts", Limits.objectTexts), ("objectFiles", Limits.objectFiles),
                    ("members", Limits.members), ("nameLength", Limits.nameLength),
                    ("previewBytes", Limits.previewBytes), ("filenameBytes", Limits.filenameBytes),
                    ("jsonValues", Limits.jsonValues), ("pushObjects", Limits.pushObjects),
                    ("pushBytes", Limits.pushBytes), ("greatestPage", Limits.greatestPage),
                    ("leastPasswordBytes", Limits.passwordBytes.lowerBound),
                    ("greatestPasswordBytes", Limits.passwordBytes.upperBound), ("emailBytes", Limits.emailBytes),
                    ("deviceNameLength", Limits.deviceNameLength),
                    ("clockAheadSeconds", Int(Limits.clockAhead / 1_000)), ("attachmentBytes", largestAttachment),
                ]
                for (name, value) in limits { writer.member(name, Int64(value)) }
                if let quota { writer.member("quotaBytes", quota) }
            }
            writer.member("serverClock", serverClock(at: now))
        }
    }

    // MARK: Signing in

    private struct Credentials {
        let email: String
        let password: String
        let deviceName: String
        let appVersion: String?

        init(_ request: ServerRequest, isSignUp: Bool) throws(Problem) {
            var fields = try BodyFields(request)
            email = try fields.string("email", bytes: (isSignUp ? 3 : 0)...Limits.emailBytes)
            if isSignUp, email.split(separator: "@", omittingEmptySubsequences: false).map(\.isEmpty) != [false, false]
            {
                throw fields.invalid("email", "must be an e-mail address, such as ada@example.org")
            }
            password = try fields.string(
                "password", bytes: isSignUp ? Limits.passwordBytes : 0...Limits.passwordBytes.upperBound)
            deviceName = try fields.string("deviceName", bytes: 1...4 * Limits.deviceNameLength)
            appVersion = try fields.optionalString("appVersion")
            if isSignUp { _ = try fields.optionalString("invitation") }
            try fields.end()
        }
    }

    mutating func signUp(_ request: ServerRequest, at now: Timestamp) throws -> ServerResponse {
        let credentials = try Credentials(request, isSignUp: true)
        let key = MemoryAccount.key(of: credentials.email)
        guard !accounts.contains(where: { MemoryAccount.key(of: $0.email) == key }) else {
            throw Problem(
                .emailTaken, "An account for \(credentials.email) exists already. Sign in instead.", at: "/email")
        }
        var scope = MemoryScope(id: Int64(accounts.count + 1))
        scope.quota = quota
        accounts.append(
            MemoryAccount(
                uniqueID: newID(), email: credentials.email, password: credentials.password, creationDate: now,
                scope: scope))
        return signedIn(credentials, account: accounts.count - 1, at: now)
    }

    mutating func signIn(_ request: ServerRequest, at now: Timestamp) throws -> ServerResponse {
        let credentials = try Credentials(request, isSignUp: false)
        let key = MemoryAccount.key(of: credentials.email)
        guard let index = accounts.firstIndex(where: { MemoryAccount.key(of: $0.email) == key }),
            accounts[index].password == credentials.password
        else { throw Problem(.unauthenticated, "The e-mail address or the password is wrong.") }
        if accounts[index].isDisabled {
            throw Problem(.accountDisabled, "The server's operator has disabled this account.")
        }
        return signedIn(credentials, account: index, at: now)
    }

    private mutating func signedIn(_ credentials: Credentials, account: Int, at now: Timestamp) -> ServerResponse {
        let token = (0..<4).map { _ in NodeID(generator.next()).description }.joined()
        let device = MemoryDevice(
            node: NodeID(generator.next() | 1), name: credentials.deviceName, appVersion: credentials.appVersion,
            token: token, creationDate: now, lastUseDate: now)
        accounts[account].devices.append(device)
        return .object(201, headers: ["cache-control": "no-store"]) { writer in
            writer.name("account")
            accounts[account].write(to: &writer)
            writer.name("device")
            device.write(to: &writer, isCurrent: true)
            writer.member("token", token)
        }
    }

    mutating func newID() -> UniqueID {
        UniqueID(
            high: generator.next() & 0xffff_ffff_ffff_0fff | 0x4000,
            low: generator.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    // MARK: Accounts and devices

    mutating func account(_ request: ServerRequest, _ caller: Caller, at now: Timestamp) throws -> ServerResponse {
        switch request.method {
        case "PATCH":
            var fields = try BodyFields(request)
            let current = try fields.string("currentPassword", bytes: 0...Limits.passwordBytes.upperBound)
            let new = try fields.string("newPassword", bytes: Limits.passwordBytes)
            let signsOthersOut = try fields.optionalBool("signOutOthers") ?? true
            try fields.end()
            try check(current, caller, at: "/currentPassword")
            accounts[caller.account].password = new
            if signsOthersOut { accounts[caller.account].devices.removeAll { $0.node != caller.node } }
        case "DELETE":
            var fields = try BodyFields(request)
            let password = try fields.string("password", bytes: 0...Limits.passwordBytes.upperBound)
            try fields.end()
            try check(password, caller, at: "/password")
            accounts.remove(at: caller.account)
            return ServerResponse(status: 204)
        default: break
        }
        var writer = JSONWriter(capacity: 256)
        accounts[caller.account].write(to: &writer)
        return .json(writer.bytes)
    }

    private func check(_ password: String, _ caller: Caller, at pointer: String) throws(Problem) {
        guard password == accounts[caller.account].password else {
            throw Problem(.forbidden, "The password is wrong.", at: pointer)
        }
    }

    func devices(_ caller: Caller) -> ServerResponse {
        .object { writer in
            writer.name("devices")
            writer.array { writer in
                for device in accounts[caller.account].devices.sorted(by: { $0.node < $1.node }) {
                    device.write(to: &writer, isCurrent: device.node == caller.node)
                }
            }
        }
    }

    mutating func device(_ id: String, _ request: ServerRequest, _ caller: Caller) throws -> ServerResponse {
        guard let index = accounts[caller.account].devices.firstIndex(where: { $0.node.description == id }) else {
            throw Problem.notFound(id)
        }
        if request.method == "DELETE" {
            accounts[caller.account].devices.remove(at: index)
            return ServerResponse(status: 204)
        }
        var fields = try BodyFields(request)
        accounts[caller.account].devices[index].name = try fields.string("name", bytes: 1...4 * Limits.deviceNameLength)
        try fields.end()
        let device = accounts[caller.account].devices[index]
        var writer = JSONWriter(capacity: 256)
        device.write(to: &writer, isCurrent: device.node == caller.node)
        return .json(writer.bytes)
    }

    /// Signs all devices of all accounts out.
    package mutating func signOutAllDevices() {
        for index in accounts.indices { accounts[index].devices = [] }
    }

    // MARK: Revoking

    mutating func revocation(
        _ id: String, _ request: ServerRequest, _ caller: Caller, at now: Timestamp
    ) throws -> ServerResponse {
        let scope = accounts[caller.account].scope
        guard let lost = NodeID(id) else { throw Problem.notFound(id) }
        guard request.method == "POST" else {
            guard let revocation = scope.revocations[lost] else { throw Problem.notFound(id) }
            return .json(revocation.body(scope))
        }
        var fields = try BodyFields(request)
        let text = try fields.optionalString("moment")
        try fields.end()
        let moment = text.flatMap { Timestamp($0) }
        if text != nil, moment == nil { throw fields.invalid("moment", "must be a date such as 2026-11-21T08:40:00Z") }
        let isNew = scope.revocations[lost] == nil
        let revocation = try revoke(lost, after: moment, by: caller, at: now)
        return .json(revocation.body(accounts[caller.account].scope), status: isNew ? 201 : 200)
    }

    private mutating func revoke(
        _ lost: NodeID, after moment: Timestamp?, by caller: Caller, at now: Timestamp
    ) throws -> MemoryRevocation {
        let account = accounts[caller.account]
        let device = account.devices.first { $0.node == lost }
        let isKnown = account.scope.parcels.values.contains { $0.contains { $0.pushedBy == lost } }
        var revocation: MemoryRevocation
        if let current = account.scope.revocations[lost] {
            guard let moment, current.moment.map({ moment < $0 }) ?? true else { return current }
            revocation = current
            revocation.moment = moment
        } else {
            guard device != nil || isKnown else { throw Problem.notFound(lost) }
            revocation = MemoryRevocation(
                node: lost, name: device?.name ?? lost.description, requestDate: now, moment: moment,
                finishDate: moment == nil ? now : nil)
        }
        accounts[caller.account].devices.removeAll { $0.node == lost }
        accounts[caller.account].scope.put(revocation)
        try accounts[caller.account].scope.undo(
            &revocation, by: caller.node == lost ? nil : caller.node, server: node, at: now)
        accounts[caller.account].scope.put(revocation)
        return revocation
    }
}
