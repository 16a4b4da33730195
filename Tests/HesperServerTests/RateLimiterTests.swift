import Foundation
import HesperModel
import NIOCore
import Testing

@testable import HesperServer

@Suite struct RateLimiterTests {
    @Test func aBurstThenTheSustainedRate() {
        let limiter = RateLimiter<String>(Rate(burst: 3, perMinute: 6))
        let start = ContinuousClock.now
        for _ in 0..<3 { #expect(limiter.take("ada", at: start) == nil) }
        #expect(limiter.take("ada", at: start) == 10)
        #expect(limiter.take("bob", at: start) == nil)
        #expect(limiter.take("ada", at: start + .seconds(5)) == 5)
        #expect(limiter.take("ada", at: start + .seconds(10)) == nil)
        #expect(limiter.take("ada", at: start + .seconds(10)) == 10)
        // Never more than the burst, however much time has passed.
        for _ in 0..<3 { #expect(limiter.take("ada", at: start + .seconds(100_000)) == nil) }
        #expect(limiter.take("ada", at: start + .seconds(100_000)) != nil)
    }

    @Test func aTokenThatIsGivenBackCanBeTakenAgain() {
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

    /// A flood of other keys does not remove a key that has no tokens left.
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
    ]) func clientAddresses(_ text: String, key: String, isLoopback: Bool) throws {
        let address = ClientAddress(try SocketAddress(ipAddress: text, port: 1))
        #expect(address.key == key)
        #expect(address.isLoopback == isLoopback)
        #expect(address.text == text.replacing("::ffff:", with: ""))
    }
}

/// Ten attempts are free; after that, each wait is twice as long as the one before.
@Suite struct KeyedBackoffTests {
    private let start = ContinuousClock.now
    private func backoff() -> KeyedBackoff { KeyedBackoff(SignInLimits()) }

    @Test func eachWaitIsTwiceThePreviousOne() {
        let backoff = backoff()
        var now = start
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: now) == nil) }
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            #expect(backoff.take("ada", free: 10, at: now) == seconds)
            #expect(
                backoff.take("ada", free: 10, at: now + .milliseconds(500)) == seconds,
                "an early attempt does not extend the wait")
            now += .seconds(seconds)
            #expect(backoff.take("ada", free: 10, at: now) == nil)
        }
        #expect(backoff.take("bob", free: 10, at: now) == nil)
    }

    @Test func aSuccessResetsTheCount() {
        let backoff = backoff()
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: start) == nil) }
        #expect(backoff.take("ada", free: 10, at: start) == 1)
        backoff.reset("ada")
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: start) == nil) }
        #expect(backoff.take("ada", free: 10, at: start) == 1)
    }

    /// An attempt that was not checked does not count.
    @Test func anAttemptThatIsGivenBackDoesNotCount() {
        let backoff = backoff()
        for _ in 0..<100 {
            #expect(backoff.take("ada", free: 10, at: start) == nil)
            backoff.giveBack("ada", at: start)
        }
        #expect(backoff.count == 0)
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: start) == nil) }
        let later = start + .seconds(1)
        for _ in 0..<100 {
            #expect(backoff.take("ada", free: 10, at: later) == nil)
            backoff.giveBack("ada", at: later)
        }
        #expect(backoff.take("ada", free: 10, at: later) == nil)
        #expect(backoff.take("ada", free: 10, at: later) == 2)
        backoff.giveBack("bob", at: later)
        #expect(backoff.count == 1)
    }

    @Test func theCountIsResetAfterADay() {
        let backoff = backoff()
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: start) == nil) }
        let hours = start + .seconds(23 * 3_600)
        #expect(backoff.take("ada", free: 10, at: hours) == nil)
        #expect(backoff.take("ada", free: 10, at: hours) == 2)
        let day = hours + .seconds(25 * 3_600)
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: day) == nil) }
        #expect(backoff.take("ada", free: 10, at: day) == 1)
    }

    /// A flood of other keys does not remove a key that must wait.
    @Test func memoryIsBounded() {
        let backoff = backoff()
        for _ in 0..<10 { #expect(backoff.take("ada", free: 10, at: start) == nil) }
        for index in 0..<KeyedBackoff.capacity * 2 { #expect(backoff.take("\(index)", free: 10, at: start) == nil) }
        #expect(backoff.take("ada", free: 10, at: start) == 1)
        #expect(backoff.count <= KeyedBackoff.capacity)
    }
}

/// protocol.md, Signing in: sign-in is rate-limited per address and per account.
@Suite struct SignInGateTests {
    private static func body(_ email: String, _ password: String) -> String {
        #"{"email":"\#(email)","password":"\#(password)","deviceName":"phone"}"#
    }

    @Test func failedSignInsMustWait() async throws {
        let change: TestServer.Change = {
            $0.signIns.freeTries = 3
            $0.signIns.firstWaitSeconds = 3_600
            $0.signIns.longestWaitSeconds = 3_600
        }
        try await TestServer.test(.router, change) { client in
            let phone = try await client.signedUp()
            _ = try await client.signedUp("bob@example.org")
            // Successful sign-ins are not limited.
            for _ in 0..<10 { _ = try await client.signedIn() }
            for email in ["ada@example.org", "ADA@example.org", "ada@EXAMPLE.org"] {
                #expect(try await client.send(.post, "/v1/devices", SignInGateTests.body(email, "wrong")).status == 401)
            }
            let refused = try await client.send(
                .post, "/v1/devices", SignInGateTests.body("ada@example.org", TestClient.password))
            #expect(refused.status == 429)
            #expect(try refused.slug == "too-many-requests")
            let seconds = try #require(refused.headers[.retryAfter].flatMap { Int($0) })
            #expect((1...3_600).contains(seconds))
            // A stolen token does not bypass the limit.
            let erase = #"{"password":"\#(TestClient.password)"}"#
            #expect(try await phone.send(.delete, "/v1/account", erase).status == 429)
            _ = try await client.signedIn("bob@example.org")
        }
    }

    private static func address(_ text: String) throws -> ClientAddress {
        ClientAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    private static func isAllowed(
        _ gate: SignInGate, _ email: String, from address: ClientAddress, _ isRight: Bool
    ) async throws -> Bool {
        do {
            #expect(try await gate.attempt(email: email, from: address) { isRight } == isRight)
            return true
        } catch let problem as Problem where problem.slug == .tooManyRequests {
            return false
        }
    }

    /// However many addresses attack an account, the owner can sign in at the first attempt, from a known and from a new address.
    @Test func attackersDoNotLockTheOwnerOut() async throws {
        var limits = SignInLimits()
        limits.perAddress = Rate(burst: 10_000, perMinute: 1)
        let gate = SignInGate(limits: limits, logger: TestServer.silent)
        let home = try SignInGateTests.address("192.0.2.7")
        var attempts = 0
        for index in 0..<200 {
            let stranger = try SignInGateTests.address("198.51.100.\(index)")
            for _ in 0..<10 where try await SignInGateTests.isAllowed(gate, "ada@example.org", from: stranger, false) {
                attempts += 1
            }
        }
        // Two or three addresses had all of their free attempts; each later one had a single attempt.
        #expect((200..<260).contains(attempts))
        for _ in 0..<5 {
            #expect(try await SignInGateTests.isAllowed(gate, "ada@example.org", from: home, true))
        }
        let away = try SignInGateTests.address("2001:db8::1")
        #expect(try await SignInGateTests.isAllowed(gate, "ADA@example.org", from: away, true))
        // A successful sign-in to one account does not reset the count of another.
        let stranger = try SignInGateTests.address("198.51.100.1")
        #expect(try await SignInGateTests.isAllowed(gate, "eve@example.org", from: stranger, true))
        #expect(try await !SignInGateTests.isAllowed(gate, "ada@example.org", from: stranger, true))
    }

    private struct NotChecked: Error {}

    /// They use up no attempts of an address or an account, and no free attempts.
    @Test func uncheckedAttemptsDoNotCount() async throws {
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
        // Nor do they reset earlier failures.
        #expect(try await SignInGateTests.isAllowed(gate, "ada@example.org", from: home, false))
        for _ in 0..<20 { await fails() }
        #expect(try await SignInGateTests.isAllowed(gate, "ada@example.org", from: home, false))
        #expect(try await !SignInGateTests.isAllowed(gate, "ada@example.org", from: home, true))
    }

    @Test func oneAddressCannotTakeAllPermits() async throws {
        var limits = SignInLimits()
        limits.maxConcurrentPerAddress = 2
        let gate = SignInGate(limits: limits, logger: TestServer.silent)
        let (stranger, other) = (try SignInGateTests.address("192.0.2.7"), try SignInGateTests.address("192.0.2.8"))
        let (entered, enter) = AsyncStream.makeStream(of: Void.self)
        let (leave, left) = AsyncStream.makeStream(of: Void.self)
        @Sendable func attempt(from address: ClientAddress) async throws {
            _ = try await gate.attempt(email: "\(UUID())@example.org", from: address) { true }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<2 {
                group.addTask {
                    _ = try await gate.attempt(email: "\(index)@example.org", from: stranger) {
                        enter.yield()
                        for await _ in leave { break }
                        return true
                    }
                }
            }
            var inside = entered.makeAsyncIterator()
            for _ in 0..<2 { await inside.next() }
            await #expect(throws: Problem(.tooManyRequests, "")) { try await attempt(from: stranger) }
            try await attempt(from: other)
            for _ in 0..<100 { try await attempt(from: ClientAddress(nil)) }
            left.finish()
            try await group.waitForAll()
        }
        try await attempt(from: stranger)
    }

    @Test func failedSignInsPerAddressAreLimited() async throws {
        let change: TestServer.Change = { $0.signIns.perAddress = Rate(burst: 3, perMinute: 0.01) }
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

    @Test func signUpsPerAddressAreLimited() throws {
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
