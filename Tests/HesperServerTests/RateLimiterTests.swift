import HesperModel
import NIOCore
import Testing

@testable import HesperServer

@Suite struct RateLimiterTests {
    @Test func aBurstThenSoManyAMinute() {
        let limiter = RateLimiter<String>(Rate(burst: 3, perMinute: 6))
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
        let limiter = RateLimiter<String>(Rate(burst: 1, perMinute: 1))
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
        let limiter = RateLimiter<String>(Rate(burst: 5, perMinute: 1))
        let now = ContinuousClock.now
        for _ in 0..<5 { #expect(limiter.take("ada", at: now) == nil) }
        for index in 0..<RateLimiter<String>.capacity * 2 { #expect(limiter.take("\(index)", at: now) == nil) }
        #expect(limiter.take("ada", at: now) != nil)
        #expect(limiter.count <= RateLimiter<String>.capacity)
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
        #expect(address.text == text.replacing("::ffff:", with: ""))
    }
}

/// Ten tries are free; then each waits twice as long as the one before.
@Suite struct GrowingWaitsTests {
    private let start = ContinuousClock.now
    private func waits() -> GrowingWaits { GrowingWaits(SignInLimits()) }

    @Test func eachWaitIsTwiceTheOneBefore() {
        let waits = waits()
        var now = start
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: now) == nil) }
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            #expect(waits.take("ada", free: 10, at: now) == seconds)
            #expect(waits.take("ada", free: 10, at: now + .milliseconds(500)) == seconds, "asking early costs nothing")
            now += .seconds(seconds)
            #expect(waits.take("ada", free: 10, at: now) == nil)
        }
        #expect(waits.take("bob", free: 10, at: now) == nil)
    }

    @Test func aRightOneEndsIt() {
        let waits = waits()
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: start) == nil) }
        #expect(waits.take("ada", free: 10, at: start) == 1)
        waits.forgive("ada")
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: start) == nil) }
        #expect(waits.take("ada", free: 10, at: start) == 1)
    }

    /// What nobody looked at counts as never tried.
    @Test func aTryThatIsGivenBackIsNone() {
        let waits = waits()
        for _ in 0..<100 {
            #expect(waits.take("ada", free: 10, at: start) == nil)
            waits.giveBack("ada", at: start)
        }
        #expect(waits.count == 0)
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: start) == nil) }
        let later = start + .seconds(1)
        for _ in 0..<100 {
            #expect(waits.take("ada", free: 10, at: later) == nil)
            waits.giveBack("ada", at: later)
        }
        #expect(waits.take("ada", free: 10, at: later) == nil)
        #expect(waits.take("ada", free: 10, at: later) == 2)
        waits.giveBack("bob", at: later)
        #expect(waits.count == 1)
    }

    @Test func aDayLaterItBeginsAnew() {
        let waits = waits()
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: start) == nil) }
        let hours = start + .seconds(23 * 3_600)
        #expect(waits.take("ada", free: 10, at: hours) == nil)
        #expect(waits.take("ada", free: 10, at: hours) == 2)
        let day = hours + .seconds(25 * 3_600)
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: day) == nil) }
        #expect(waits.take("ada", free: 10, at: day) == 1)
    }

    /// Whoever floods it with names does not make it forget who waits.
    @Test func memoryIsBounded() {
        let waits = waits()
        for _ in 0..<10 { #expect(waits.take("ada", free: 10, at: start) == nil) }
        for index in 0..<GrowingWaits.capacity * 2 { #expect(waits.take("\(index)", free: 10, at: start) == nil) }
        #expect(waits.take("ada", free: 10, at: start) == 1)
        #expect(waits.count <= GrowingWaits.capacity)
    }
}

/// protocol.md, Signing in: sign-in is rate-limited per address and per account.
@Suite struct SignInGateTests {
    private static func body(_ email: String, _ password: String) -> String {
        #"{"email":"\#(email)","password":"\#(password)","deviceName":"phone"}"#
    }

    @Test func whoeverTriesAnAccountWaits() async throws {
        let change: TestServer.Change = {
            $0.signIns.freeTries = 3
            $0.signIns.firstWaitSeconds = 60
        }
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

    private static func address(_ text: String) throws -> ClientAddress {
        ClientAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    private static func isLetThrough(
        _ gate: SignInGate, _ email: String, from address: ClientAddress, _ isRight: Bool
    ) async throws -> Bool {
        do {
            #expect(try await gate.attempt(email: email, from: address) { isRight } == isRight)
            return true
        } catch let problem as Problem where problem.slug == .tooManyRequests {
            return false
        }
    }

    /// However long strangers try from however many places, the owner gets in at the first try: from where they always are,
    /// and from where they never were.
    @Test func strangersDoNotLockTheOwnerOut() async throws {
        var limits = SignInLimits()
        limits.perAddress = Rate(burst: 10_000, perMinute: 1)
        let gate = SignInGate(limits: limits, logger: TestServer.silent)
        let home = try SignInGateTests.address("192.0.2.7")
        var tries = 0
        for place in 0..<200 {
            let stranger = try SignInGateTests.address("198.51.100.\(place)")
            for _ in 0..<10 where try await SignInGateTests.isLetThrough(gate, "ada@example.org", from: stranger, false)
            {
                tries += 1
            }
        }
        // Two or three places had all of their free tries; then each had one.
        #expect((200..<260).contains(tries))
        for _ in 0..<5 {
            #expect(try await SignInGateTests.isLetThrough(gate, "ada@example.org", from: home, true))
        }
        let away = try SignInGateTests.address("2001:db8::1")
        #expect(try await SignInGateTests.isLetThrough(gate, "ADA@example.org", from: away, true))
        // Nor does one who knows another's password buy tries with it.
        let stranger = try SignInGateTests.address("198.51.100.1")
        #expect(try await SignInGateTests.isLetThrough(gate, "eve@example.org", from: stranger, true))
        #expect(try await !SignInGateTests.isLetThrough(gate, "ada@example.org", from: stranger, true))
    }

    private struct NotChecked: Error {}

    /// Nobody knows whether they were right: they use up nothing of an address, an account, or the free tries.
    @Test func whatWasNotCheckedDoesNotCount() async throws {
        var limits = SignInLimits()
        limits.freeTries = 2
        limits.firstWaitSeconds = 60
        limits.perAccount = Rate(burst: 2, perMinute: 1)
        limits.perAddress = Rate(burst: 3, perMinute: 1)
        let gate = SignInGate(limits: limits, logger: TestServer.silent)
        let home = try SignInGateTests.address("192.0.2.7")
        func fails() async {
            await #expect(throws: NotChecked.self) {
                try await gate.attempt(email: "ada@example.org", from: home) { throw NotChecked() }
            }
            await #expect(throws: NotChecked.self) { try await gate.attempt(from: home) { throw NotChecked() } }
        }
        for _ in 0..<20 { await fails() }
        // Nor does it forgive what was wrong before.
        #expect(try await SignInGateTests.isLetThrough(gate, "ada@example.org", from: home, false))
        for _ in 0..<20 { await fails() }
        #expect(try await SignInGateTests.isLetThrough(gate, "ada@example.org", from: home, false))
        #expect(try await !SignInGateTests.isLetThrough(gate, "ada@example.org", from: home, true))
    }

    @Test func oneAddressDoesNotTakeAllTurns() async throws {
        let turns = AddressTurns(limit: 2)
        let (stranger, other) = (try SignInGateTests.address("192.0.2.7"), try SignInGateTests.address("192.0.2.8"))
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (leave, left) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await turns.take(stranger) {
                        enter.yield()
                        for await _ in leave { break }
                    }
                }
            }
            var inside = entered.makeAsyncIterator()
            for _ in 0..<2 { await inside.next() }
            await #expect(throws: Problem(.tooManyRequests, "")) { try await turns.take(stranger) {} }
            try await turns.take(other) {}
            for _ in 0..<100 { try await turns.take(ClientAddress(nil)) {} }
            left.finish()
            try await group.waitForAll()
        }
        try await turns.take(stranger) {}
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
        let gate = SignInGate(limits: limits, logger: TestServer.silent)
        let stranger = ClientAddress(try SocketAddress(ipAddress: "192.0.2.7", port: 1))
        try gate.signUp(from: stranger)
        try gate.signUp(from: stranger)
        #expect(throws: Problem(.tooManyRequests, "")) { try gate.signUp(from: stranger) }
        try gate.signUp(from: ClientAddress(try SocketAddress(ipAddress: "192.0.2.8", port: 1)))
        for _ in 0..<100 { try gate.signUp(from: ClientAddress(nil)) }
        #expect(ClientAddress(nil).text == nil)
    }
}
