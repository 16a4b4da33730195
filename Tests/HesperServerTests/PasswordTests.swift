import Foundation
import HesperModel
import Testing

@testable import HesperServer

/// protocol.md, Signing in: password hashes with scrypt, and the limit on concurrent ones.
@Suite struct PasswordTests {
    @Test func theDefaultCostIsWhatOWASPRecommends() throws {
        #expect(PasswordLimits().cost == 17)
        let hash = try PasswordHash.make("correct horse battery staple", cost: PasswordLimits().cost)
        #expect(hash.hasPrefix("$scrypt$ln=17,r=8,p=1$"))
        #expect(try PasswordHash.matches("correct horse battery staple", hash))
        #expect(try !PasswordHash.matches("correct horse battery stapl", hash))
    }

    /// Hashes made with Python's hashlib.scrypt.
    @Test(arguments: [
        (
            "correct horse battery staple",
            "$scrypt$ln=10,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$7AnzIswxwEinpwz+ntydndYfVHPvOACmX9Vvo8hO1qM"
        ),
        ("пароль €", "$scrypt$ln=4,r=8,p=1$ZmVkY2JhOTg3NjU0MzIxMA$tW0nYvlz8R3cRCDS1Objl0ROpybXZ7alnFdYFxCpfck"),
    ]) func hashesOfAnotherImplementation(_ password: String, _ hash: String) throws {
        #expect(try PasswordHash.matches(password, hash))
        #expect(try !PasswordHash.matches(password + " ", hash))
    }

    @Test func everyHashHasItsOwnSalt() throws {
        #expect(try PasswordHash.make("12345678", cost: 4) != PasswordHash.make("12345678", cost: 4))
    }

    @Test(arguments: [
        "", "$", "12345678", "$scrypt$ln=4,r=8,p=1$AAAA", "$scrypt$ln=40,r=8,p=1$AAAA$AAAA",
        "$scrypt$ln=4,r=9,p=1$AAAA$AAAA",
        "$argon2id$ln=4,r=8,p=1$AAAA$AAAA", "$scrypt$ln=x,r=8,p=1$AAAA$AAAA", "$scrypt$ln=4,r=8,p=1$?$?",
    ]) func anInvalidHashMatchesNothing(_ text: String) throws {
        #expect(try !PasswordHash.matches("12345678", text))
        #expect(try !PasswordHash.matches("", text))
    }

    @Test func noPasswordMatchesTheDummy() throws {
        #expect(try !PasswordHash.matches("", PasswordHash.dummy(cost: 4)))
    }

    /// A lower bound on the time that one check of a hash takes. It is measured in processor time, because the time until the end of a
    /// check also depends on what else this machine does.
    private static func minimumTime(_ hash: String) throws -> Duration {
        func processorTime() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
        let times = try (0..<3).map { _ in
            let start = processorTime()
            _ = try PasswordHash.matches("12345678", hash)
            return processorTime() - start
        }
        return (times.min() ?? .zero) / 4
    }

    /// After the cost was changed, each check takes the time of all costs, whether there is a hash of the old cost, of the new
    /// cost, or none.
    @Test(arguments: [4, 13]) func aCheckTakesTheTimeOfAllCosts(_ today: Int) async throws {
        var limits = PasswordLimits()
        limits.cost = today
        let stored = try [4, 13].map { try PasswordHash.make("12345678", cost: $0) }
        let passwords = Passwords(limits: limits) { stored }
        let minimum = try PasswordTests.minimumTime(stored[1])
        let hashes: [String?] = [stored[0], stored[1], nil, "none"]
        for hash in hashes {
            let start = ContinuousClock.now
            let isRight = try await passwords.matches("12345678", hash)
            #expect(ContinuousClock.now - start > minimum)
            #expect(isRight == (hash?.hasPrefix("$scrypt$") == true))
            #expect(try await passwords.matches("87654321", hash) == false)
        }
    }

    /// A hash that another process has stored since may have another cost.
    @Test func aNewCostIsIncludedInLaterChecks() async throws {
        var limits = PasswordLimits()
        limits.cost = 4
        let passwords = Passwords(limits: limits)
        let hash = try PasswordHash.make("12345678", cost: 13)
        let minimum = try PasswordTests.minimumTime(hash)
        #expect(try await passwords.matches("12345678", hash))
        let start = ContinuousClock.now
        #expect(try await passwords.matches("12345678", nil) == false)
        #expect(ContinuousClock.now - start > minimum)
    }

    /// With one permit and a queue of two, most of many concurrent requests are refused.
    @Test func tooManyConcurrentHashesAreRefused() async throws {
        var limits = PasswordLimits()
        limits.cost = 12
        limits.maxConcurrent = 1
        limits.waiting = 2
        let passwords = Passwords(limits: limits)
        let refused = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        _ = try await passwords.hash("12345678")
                        return false
                    } catch {
                        return (error as? Problem)?.slug == .tooManyRequests
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(refused > 0 && refused <= 17)
        // All permits are free again.
        #expect(try await passwords.matches("x", nil) == false)
    }
}
