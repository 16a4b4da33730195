import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// protocol.md, Signing in: devices.
@Suite struct DevicesTests {
    @Test func aTokenHas256BitsAndIsStoredAsAHash() async throws {
        try await TestServer.test { client in
            let first = try await client.signedUp()
            let second = try await client.signedIn()
            let token = try #require(first.token)
            #expect(token != second.token)
            #expect(token.hasPrefix("hesper_"))
            #expect(Base64URL.decode(String(token.dropFirst(7)))?.count == 32)
            #expect(try client.test.store.session(of: BearerToken(authorization: "Bearer \(token)")!.hash) != nil)
        }
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Basic YTpi", "Bearer x", "Bearer hesper_", "Token %", "bearer  %", "BEARER %  ",
    ])
    func authorizationHeader(_ form: String) async throws {
        try await TestServer.test { client in
            let client = try await client.signedUp()
            let header = form.replacing("%", with: client.token ?? "")
            let response = try await client.send(.get, "/v1/account", headers: [.authorization: header])
            // The name of the scheme is case-insensitive (RFC 9110, 11.1).
            let isGood = form.lowercased().hasPrefix("bearer") && form.contains("%")
            #expect(response.status == (isGood ? 200 : 401))
            #expect(response.headers[.wwwAuthenticate] == (isGood ? nil : "Bearer"))
        }
    }

    @Test func aTokenWithOneCharacterChangedIsInvalid() async throws {
        try await TestServer.test { client in
            let client = try await client.signedUp()
            let token = try #require(client.token)
            let other = token.dropLast() + (token.hasSuffix("A") ? "E" : "A")
            let response = try await client.send(.get, "/v1/account", headers: [.authorization: "Bearer \(other)"])
            #expect(response.status == 401)
        }
    }

    @Test func theListHasPages() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp(device: "phone")
            for name in ["laptop", "tablet", "watch"] { _ = try await client.signedIn(device: name) }
            var names: [String] = []
            var cursor = ""
            for _ in 0..<10 {
                let page = try await phone.send(.get, "/v1/devices?limit=3\(cursor)").json
                let devices = try page.member("devices").array
                #expect(devices.count <= 3)
                for device in devices {
                    names.append(try device.member("name").string)
                    #expect(try device.member("current") == .bool(device.member("name").string == "phone"))
                }
                guard let next = try? page.member("nextCursor").string else { break }
                cursor = "&cursor=\(next)"
            }
            #expect(names.sorted() == ["laptop", "phone", "tablet", "watch"])
            #expect(names.last == "phone")
            #expect(try await phone.send(.get, "/v1/devices?limit=4").text.contains("nextCursor") == false)
        }
    }

    static let badLists = [
        Row("limit 0", .get, "/v1/devices?limit=0", status: 422, contains: [#""pointer":"limit""#]),
        Row("a limit that is not a number", .get, "/v1/devices?limit=ten", status: 422),
        Row("a limit with a sign", .get, "/v1/devices?limit=%2B5", status: 422),
        Row("two limits", .get, "/v1/devices?limit=5&limit=6", status: 422, contains: ["twice"]),
        Row("a huge limit is clamped", .get, "/v1/devices?limit=99999999999999999999", status: 200),
        Row("an invalid cursor", .get, "/v1/devices?cursor=x", status: 422, contains: [#""pointer":"cursor""#]),
        Row("a cursor after an unknown device", .get, "/v1/devices?cursor=0123456789abcdef", status: 200),
    ]

    @Test(arguments: badLists) func listParameters(_ row: Row) async throws {
        try await TestServer.test { try await row.check($0.signedUp()) }
    }

    @Test func signingADeviceOut() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            let laptop = try await client.signedIn()
            let bob = try await client.signedUp("bob@example.org")
            let page = try await phone.send(.get, "/v1/devices").json
            let id = try page.member("devices").array[0].member("uniqueID").string
            for stranger in ["/v1/devices/\(id)", "/v1/devices/0123456789abcdef", "/v1/devices/x"] {
                // A device of another account is reported like an unknown one.
                try await Row("stranger", .delete, stranger, status: 404, contains: ["not-found"]).check(bob)
            }
            #expect(try await laptop.send(.get, "/v1/account").status == 200)
            #expect(try await phone.send(.delete, "/v1/devices/\(id.uppercased())").status == 204)
            #expect(try await laptop.send(.get, "/v1/account").status == 401)
            #expect(try await phone.send(.delete, "/v1/devices/\(id)").status == 404)
        }
    }

    @Test func unknownAccountAndWrongPasswordGetTheSameResponse() async throws {
        try await TestServer.test { client in
            _ = try await client.signedUp()
            func signIn(_ email: String, _ password: String) async throws -> TestResponse {
                try await client.send(
                    .post, "/v1/devices",
                    #"{"email":"\#(email)","password":"\#(password)","deviceName":"phone"}"#,
                    headers: [.requestID: "same"])
            }
            let wrong = try await signIn("ada@example.org", "wrong password")
            let unknown = try await signIn("nobody@example.org", "wrong password")
            let short = try await signIn("ada@example.org", "")
            #expect(wrong.status == 401)
            #expect(wrong.text == unknown.text && wrong.text == short.text)
            #expect(wrong.headers == unknown.headers)
        }
    }

    /// A use is written in the background, and at most once a minute.
    @Test func useIsRecordedOnceAMinute() async throws {
        try await TestServer.test(.live) { client in
            let client = try await client.signedUp()
            let token = try #require(client.token.flatMap { BearerToken(authorization: "Bearer \($0)") }).hash
            let store = client.test.store
            let signedIn = try #require(try store.session(of: token)).device
            // Simulates a sign-in an hour ago.
            let hourAgo = Timestamp(clamping: signedIn.lastUseDate.milliseconds - 3_600_000)
            try await store.write {
                try $0.recordUse(
                    of: signedIn.node, at: hourAgo, appVersion: nil, userAgent: nil, address: "192.0.2.7",
                    readSequence: nil)
            }
            #expect(try store.session(of: token)?.device.lastUseAddress == "192.0.2.7")
            try await client.send(.get, "/v1/account", headers: [.userAgent: "Vesper/1"])
            var device = signedIn
            for _ in 0..<6_000 where device.userAgent != "Vesper/1" {
                try await Task.sleep(for: .milliseconds(10))
                device = try #require(try store.session(of: token)).device
            }
            #expect(device.userAgent == "Vesper/1")
            #expect(device.lastUseDate >= signedIn.lastUseDate)
            // Only the last address is stored.
            #expect(["127.0.0.1", "::1"].contains(device.lastUseAddress))
            let session = try #require(try store.session(of: token))
            let address = ClientAddress(nil)
            #expect(DeviceUse(of: session, userAgent: [:], from: address)?.isDue == false)
            let later = Timestamp(clamping: device.lastUseDate.milliseconds + 60_000)
            #expect(DeviceUse(of: session, userAgent: [:], from: address, at: later)?.isDue == true)
        }
    }
}
