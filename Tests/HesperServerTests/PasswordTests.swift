import Foundation
import HesperModel
import Testing

@testable import HesperServer

/// protocol.md, Signing in: scrypt, a bounded number at once.
@Suite struct PasswordTests {
    @Test func theDefaultCostIsWhatOWASPAsksFor() throws {
        #expect(PasswordLimits().cost == 17)
        let hash = try PasswordHash.make("correct horse battery staple", cost: PasswordLimits().cost)
        #expect(hash.hasPrefix("$scrypt$ln=17,r=8,p=1$"))
        #expect(try PasswordHash.matches("correct horse battery staple", hash))
        #expect(try !PasswordHash.matches("correct horse battery stapl", hash))
    }

    /// Made by Python's hashlib.scrypt.
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
    ]) func whatIsNoHashMatchesNothing(_ text: String) throws {
        #expect(try !PasswordHash.matches("12345678", text))
        #expect(try !PasswordHash.matches("", text))
    }

    @Test func nobodyHasTheDummy() throws {
        #expect(try !PasswordHash.matches("", PasswordHash.dummy(cost: 4)))
    }

    /// How long the one check of a hash takes at least, whatever else the machine does.
    private static func least(_ hash: String) throws -> Duration {
        let times = try (0..<3).map { _ in
            let start = ContinuousClock.now
            _ = try PasswordHash.matches("12345678", hash)
            return ContinuousClock.now - start
        }
        return (times.min() ?? .zero) / 4
    }

    /// After the cost was changed each check takes as long as one of each cost: for whom there is a hash of before, one of today, or
    /// none.
    @Test(arguments: [4, 13]) func aCheckTakesAsLongWhateverTheCost(_ today: Int) async throws {
        var limits = PasswordLimits()
        limits.cost = today
        let kept = try [4, 13].map { try PasswordHash.make("12345678", cost: $0) }
        let passwords = Passwords(limits: limits) { kept }
        let least = try PasswordTests.least(kept[1])
        let hashes: [String?] = [kept[0], kept[1], nil, "none"]
        for hash in hashes {
            let start = ContinuousClock.now
            let isRight = try await passwords.matches("12345678", hash)
            #expect(ContinuousClock.now - start > least)
            #expect(isRight == (hash?.hasPrefix("$scrypt$") == true))
            #expect(try await passwords.matches("87654321", hash) == false)
        }
    }

    /// Another process has made it, at a cost of its own.
    @Test func onceACostIsMetEachCheckTakesAsLong() async throws {
        var limits = PasswordLimits()
        limits.cost = 4
        let passwords = Passwords(limits: limits)
        let hash = try PasswordHash.make("12345678", cost: 13)
        let least = try PasswordTests.least(hash)
        #expect(try await passwords.matches("12345678", hash))
        let start = ContinuousClock.now
        #expect(try await passwords.matches("12345678", nil) == false)
        #expect(ContinuousClock.now - start > least)
    }

    /// One at once and two waiting: of many who come together, the others are told to come again.
    @Test func tooManyAtOnceAreToldToComeAgain() async throws {
        var limits = PasswordLimits()
        limits.cost = 12
        limits.atOnce = 1
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
        // Nobody is left behind.
        #expect(try await passwords.matches("x", nil) == false)
    }
}
