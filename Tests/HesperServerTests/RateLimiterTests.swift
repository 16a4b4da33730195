import HesperModel
import NIOCore
import Testing

@testable import HesperServer

@Suite struct RateLimiterTests {
    @Test func aBurstThenSoManyAMinute() {
        let limiter = RateLimiter(Rate(burst: 3, perMinute: 6))
        let start = ContinuousClock.now
        for _ in 0..<3 { #expect(limiter.take("ada", at: start) == nil) }
        #expect(limiter.take("ada", at: start) == 10)
        #expect(limiter.take("bob", at: start) == nil)
        #expect(limiter.take("ada", at: start + .seconds(5)) == 5)
        #expect(limiter.take("ada", at: start + .seconds(10)) == nil)
        #expect(limiter.take("ada", at: start + .seconds(10)) == 10)
        // Never more than the burst, however long nobody came.
        for _ in 0..<3 { #expect(limiter.take("ada", at: start + .seconds(100_000)) == nil) }
        #expect(limiter.take("ada", at: start + .seconds(100_000)) != nil)
    }

    @Test func whatIsGivenBackCanBeTakenAgain() {
        let limiter = RateLimiter(Rate(burst: 1, perMinute: 1))
        let now = ContinuousClock.now
        for _ in 0..<50 {
            #expect(limiter.take("ada", at: now) == nil)
            limiter.giveBack("ada")
        }
        limiter.giveBack("ada")
        #expect(limiter.take("ada", at: now) == nil)
        #expect(limiter.take("ada", at: now) != nil)
    }

    /// Whoever floods it with names does not make it forget who is out of tries.
    @Test func memoryIsBounded() {
        let limiter = RateLimiter(Rate(burst: 5, perMinute: 1))
        let now = ContinuousClock.now
        for _ in 0..<5 { #expect(limiter.take("ada", at: now) == nil) }
        for index in 0..<RateLimiter.capacity * 2 { #expect(limiter.take("\(index)", at: now) == nil) }
        #expect(limiter.take("ada", at: now) != nil)
        #expect(limiter.count <= RateLimiter.capacity)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1", true), ("127.8.0.1", "127.8.0.1", true), ("192.0.2.7", "192.0.2.7", false),
        ("::1", "0:0:0:0:0:0:0:0", true), ("::ffff:192.0.2.7", "192.0.2.7", false),
        ("::ffff:127.0.0.1", "127.0.0.1", true),
        ("2001:db8:1:2:3:4:5:6", "20:1:d:b8:0:1:0:2", false), ("2001:db8:1:2:ffff::1", "20:1:d:b8:0:1:0:2", false),
    ]) func addresses(_ text: String, key: String, isLoopback: Bool) throws {
        let address = ClientAddress(try SocketAddress(ipAddress: text, port: 1))
        #expect(address.key == key)
        #expect(address.isLoopback == isLoopback)
    }
}

/// protocol.md, Signing in: sign-in is rate-limited per address and per account.
@Suite struct SignInGateTests {
    private static func body(_ email: String, _ password: String) -> String {
        #"{"email":"\#(email)","password":"\#(password)","deviceName":"phone"}"#
    }

    @Test func perAccount() async throws {
        let change: TestServer.Change = { $0.signIns.perAccount = Rate(burst: 3, perMinute: 1) }
        try await TestServer.test(.router, change) { client in
            let phone = try await client.signedUp()
            _ = try await client.signedUp("bob@example.org")
            // Those who know the password can sign in as often as they like.
            for _ in 0..<10 { _ = try await client.signedIn() }
            for email in ["ada@example.org", "ADA@example.org", "ada@EXAMPLE.org"] {
                #expect(try await client.send(.post, "/v1/devices", SignInGateTests.body(email, "wrong")).status == 401)
            }
            let refused = try await client.send(
                .post, "/v1/devices", SignInGateTests.body("ada@example.org", TestClient.password))
            #expect(refused.status == 429)
            #expect(try refused.slug == "too-many-requests")
            let seconds = try #require(refused.headers[.retryAfter].flatMap { Int($0) })
            #expect((50...60).contains(seconds))
            // A token in the wrong hands is no way around it.
            let erase = #"{"password":"\#(TestClient.password)"}"#
            #expect(try await phone.send(.delete, "/v1/account", erase).status == 429)
            _ = try await client.signedIn("bob@example.org")
        }
    }

    @Test func perAddress() async throws {
        let change: TestServer.Change = { $0.signIns.perAddress = Rate(burst: 3, perMinute: 1) }
        try await TestServer.test(.router, change) { client in
            _ = try await client.signedUp()
            for index in 0..<3 {
                let body = SignInGateTests.body("nobody\(index)@example.org", "wrong")
                #expect(try await client.send(.post, "/v1/devices", body).status == 401)
            }
            let body = SignInGateTests.body("ada@example.org", TestClient.password)
            #expect(try await client.send(.post, "/v1/devices", body).status == 429)
        }
    }

    @Test func signUpsFromElsewhere() throws {
        var limits = SignInLimits()
        limits.signUps = Rate(burst: 2, perMinute: 1)
        let gate = SignInGate(limits: limits)
        let stranger = ClientAddress(try SocketAddress(ipAddress: "192.0.2.7", port: 1))
        try gate.signUp(from: stranger)
        try gate.signUp(from: stranger)
        #expect(throws: Problem(.tooManyRequests, "")) { try gate.signUp(from: stranger) }
        try gate.signUp(from: ClientAddress(try SocketAddress(ipAddress: "192.0.2.8", port: 1)))
        for _ in 0..<100 { try gate.signUp(from: ClientAddress(nil)) }
    }
}
