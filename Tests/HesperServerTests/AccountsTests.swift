import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// protocol.md, Signing in: accounts.
@Suite struct AccountsTests {
    static let password = TestClient.password

    private static func signUp(
        _ name: String, email: String = "ada@example.org", password: String = password, device: String = "phone",
        more: String = "", status: Int, contains: [String] = [], lacks: [String] = []
    ) -> Row {
        Row(
            name, .post, "/v1/accounts",
            #"{"email":"\#(email)","password":"\#(password)","deviceName":"\#(device)"\#(more)}"#, status: status,
            contains: contains, lacks: lacks)
    }

    static let rows = [
        signUp(
            "a valid sign-up", status: 201,
            contains: [
                #""email":"ada@example.org""#, #""usage":{"objects":0,"bytes":0,"attachmentBytes":0,"storedBytes":0}"#,
                #""name":"phone""#,
                #""current":true"#, #""token":"hesper_"#,
            ], lacks: [password, "scrypt"]),
        signUp("an app version", more: #","appVersion":"Vesper 3.1""#, status: 201, contains: ["Vesper 3.1"]),
        signUp("a device name of 100 two-byte characters", device: String(repeating: "é", count: 100), status: 201),
        signUp(
            "a device name that is too long", device: String(repeating: "a", count: 101), status: 422,
            contains: ["/deviceName"]),
        signUp("an empty device name", device: "", status: 422, contains: ["/deviceName"]),
        signUp("a short password", password: "1234567", status: 422, contains: ["/password", "8 to 1024"]),
        signUp("a password of few characters but enough bytes", password: "пароль", status: 201),
        signUp("the longest password", password: String(repeating: "a", count: 1024), status: 201),
        signUp("a password that is too long", password: String(repeating: "a", count: 1025), status: 422),
        signUp("no @", email: "ada.example.org", status: 422, contains: ["/email"]),
        signUp("two @", email: "ada@@example.org", status: 422),
        signUp("no local part", email: "@example.org", status: 422),
        signUp("a space", email: "ada lovelace@example.org", status: 422),
        signUp("a line break", email: #"ada@example.org\r\nBcc: eve"#, status: 422),
        signUp("an address that is too long", email: String(repeating: "a", count: 243) + "@example.org", status: 422),
        signUp("the longest address", email: String(repeating: "a", count: 242) + "@example.org", status: 201),
        signUp(
            "an app version that is too long", more: #","appVersion":"\#(String(repeating: "1", count: 101))""#,
            status: 422),
        signUp("a session cookie", more: #","cookie":true"#, status: 201, lacks: ["token", "hesper_"]),
        signUp("no session cookie", more: #","cookie":false"#, status: 201, contains: [#""token":"hesper_"#]),
        signUp(
            "a cookie field that is not a Boolean", more: #","cookie":"yes""#, status: 422,
            contains: ["/cookie", "true or false"]),
    ]

    @Test(arguments: rows) func signUpResponses(_ row: Row) async throws {
        try await TestServer.test { try await row.check($0) }
    }

    @Test func anAddressIsUniqueIgnoringCase() async throws {
        try await TestServer.test { client in
            _ = try await client.signedUp("Ada@Example.org")
            let row = AccountsTests.signUp(
                "same address", email: "aDA@eXAMPLE.ORG", status: 409, contains: ["email-taken", "/email"])
            try await row.check(client)
        }
    }

    @Test func concurrentSignUpsCreateOneAccount() async throws {
        try await TestServer.test { client in
            let body = #"{"email":"ada@example.org","password":"12345678","deviceName":"phone"}"#
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await client.send(.post, "/v1/accounts", body).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 7))
        }
    }

    @Test func closedSignUpIsRefused() async throws {
        let change: TestServer.Change = { $0.signUp = .closed }
        try await TestServer.test(.router, change) { client in
            let row = AccountsTests.signUp("closed", status: 403, contains: ["sign-up-closed"])
            try await row.check(client)
            try await AccountsTests.signUp("a guessed invitation", more: #","invitation":"x""#, status: 403).check(
                client)
            let info = try await client.send(.get, "/v1/server")
            #expect(info.text.contains(#""signUp":"closed""#))
        }
    }

    @Test func accountIsThatOfTheToken() async throws {
        try await TestServer.test { client in
            let ada = try await client.signedUp("ada@example.org")
            let bob = try await client.signedUp("bob@example.org")
            #expect(try await ada.send(.get, "/v1/account").json.member("email").string == "ada@example.org")
            #expect(try await bob.send(.get, "/v1/account").json.member("email").string == "bob@example.org")
        }
    }

    @Test func changingThePasswordSignsOtherDevicesOut() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            let laptop = try await client.signedIn()
            let wrong = Row(
                "wrong", .patch, "/v1/account", #"{"currentPassword":"wrong","newPassword":"87654321"}"#, status: 403,
                contains: ["forbidden", "/currentPassword"])
            try await wrong.check(laptop)
            #expect(try await phone.send(.get, "/v1/account").status == 200)
            let right = Row(
                "right", .patch, "/v1/account",
                #"{"currentPassword":"\#(TestClient.password)","newPassword":"87654321"}"#, status: 200,
                contains: ["ada@example.org"])
            try await right.check(laptop)
            #expect(try await phone.send(.get, "/v1/account").status == 401)
            #expect(try await laptop.send(.get, "/v1/account").status == 200)
            let old = #"{"email":"ada@example.org","password":"\#(TestClient.password)","deviceName":"phone"}"#
            #expect(try await client.send(.post, "/v1/devices", old).status == 401)
            let new = #"{"email":"ada@example.org","password":"87654321","deviceName":"phone"}"#
            #expect(try await client.send(.post, "/v1/devices", new).status == 201)
        }
    }

    @Test func changingThePasswordCanKeepOtherDevicesSignedIn() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            let laptop = try await client.signedIn()
            func change(_ old: String, _ new: String, _ others: String) async throws -> Int {
                let body = #"{"currentPassword":"\#(old)","newPassword":"\#(new)","signOutOthers":\#(others)}"#
                return try await laptop.send(.patch, "/v1/account", body).status
            }
            #expect(try await change(TestClient.password, "87654321", #""no""#) == 422)
            #expect(try await change(TestClient.password, "87654321", "false") == 200)
            #expect(try await phone.send(.get, "/v1/account").status == 200)
            #expect(try await change(TestClient.password, "12345678", "true") == 403)
            #expect(try await change("87654321", "12345678", "true") == 200)
            #expect(try await phone.send(.get, "/v1/account").status == 401)
            #expect(try await laptop.send(.get, "/v1/account").status == 200)
        }
    }

    /// Of concurrent changes with the old password, one succeeds. The others fail because the password has changed.
    @Test func onlyOneConcurrentPasswordChangeSucceeds() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            let laptop = try await client.signedIn()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for (index, device) in [phone, laptop, phone, laptop].enumerated() {
                    let body =
                        #"{"currentPassword":"\#(TestClient.password)","newPassword":"password \#(index)","#
                        + #""signOutOthers":false}"#
                    group.addTask { try await device.send(.patch, "/v1/account", body).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 403, 403, 403])
        }
    }

    @Test func deletingAnAccount() async throws {
        try await TestServer.test { client in
            let phone = try await client.signedUp()
            _ = try await client.signedIn()
            try await Row(
                "wrong", .delete, "/v1/account", #"{"password":"wrong"}"#, status: 403, contains: ["/password"]
            ).check(phone)
            let erased = try await phone.send(.delete, "/v1/account", #"{"password":"\#(TestClient.password)"}"#)
            #expect(erased.status == 204 && erased.text.isEmpty)
            #expect(try await phone.send(.get, "/v1/account").status == 401)
            #expect(try await client.test.store.read { try $0.accounts() }.isEmpty)
            // The address can be used again.
            _ = try await client.signedUp()
        }
    }

    @Test func signUpsFromLoopbackAreNotLimited() async throws {
        try await TestServer.test { client in
            for index in 0..<100 { _ = try await client.signedUp("user\(index)@example.org") }
        }
    }
}
