import HesperModel
import HesperStore
import Logging

/// Limits attempts at passwords and codes (protocol.md, Signing in).
///
/// Back-off is counted per pair of address and account, so that an attacker does not delay the owner's own sign-ins.
struct SignInGate: Sendable {
    private let limits: SignInLimits
    private let logger: Logger
    private let accounts: RateLimiter<String>
    private let addresses: RateLimiter<String>
    private let signUps: RateLimiter<String>
    private let backoff: KeyedBackoff
    /// Limits concurrent password checks per address, including waiting ones, so that one address cannot occupy all permits.
    private let checks: Semaphore<String>

    init(limits: SignInLimits, logger: Logger) {
        self.limits = limits
        self.logger = logger
        accounts = RateLimiter(limits.perAccount)
        addresses = RateLimiter(limits.perAddress)
        signUps = RateLimiter(limits.signUps)
        backoff = KeyedBackoff(limits)
        checks = Semaphore(
            PermitLimits(perKey: limits.maxConcurrentPerAddress),
            refusal: .tooManyRequests("Too many concurrent sign-ins from this address.", retryAfter: 5))
    }

    /// Attempts a sign-in. It does not count if the password is right, or was not checked.
    /// - Parameter check: returns whether the password is right.
    /// - Throws: `too-many-requests`, before the check; errors of `check`.
    func attempt(email: String, from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        let account = Account.key(of: email)
        let pair = "\(address.key) \(account)"
        if let seconds = addresses.take(address.key) { throw SignInGate.tooMany(seconds) }
        // While an account is under attack, each address has one free attempt instead of several, which suffices for its owner.
        let isUnderAttack = accounts.take(account) != nil
        let giveBack = {
            addresses.giveBack(address.key)
            if !isUnderAttack { accounts.giveBack(account) }
        }
        if let seconds = backoff.take(pair, free: isUnderAttack ? 1 : limits.freeTries) {
            giveBack()
            throw SignInGate.tooMany(seconds)
        }
        do {
            // Loopback is not limited: a proxy there may forward many clients.
            let isRight =
                address.isLoopback ? try await check() : try await checks.withPermit(address.key, check)
            if isRight {
                giveBack()
                backoff.reset(pair)
            } else {
                logFailure("Wrong password", from: address)
            }
            return isRight
        } catch {
            // The password was not checked: too many sign-ins are waiting, or the database is unavailable.
            giveBack()
            backoff.giveBack(pair)
            throw error
        }
    }

    /// Attempts a code. It does not count if the code is right, or was not checked.
    /// - Throws: `too-many-requests`, before the check; errors of `check`.
    func attempt(from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        if let seconds = addresses.take(address.key) {
            throw Problem.tooManyRequests("Too many failed codes from this address.", retryAfter: seconds)
        }
        do {
            let isRight = try await check()
            if isRight { addresses.giveBack(address.key) } else { logFailure("Wrong code", from: address) }
            return isRight
        } catch {
            addresses.giveBack(address.key)
            throw error
        }
    }

    /// Counts the creation of an account.
    /// - Throws: `too-many-requests`.
    func signUp(from address: ClientAddress) throws(Problem) {
        guard !address.isLoopback else { return }
        if let seconds = signUps.take(address.key) {
            throw .tooManyRequests("Too many accounts were created from this address.", retryAfter: seconds)
        }
    }

    /// Logs for programs that block addresses, such as fail2ban (operating.md, Logs).
    private func logFailure(_ what: String, from address: ClientAddress) {
        logger.notice("\(what)", metadata: ["address": "\(address.text ?? address.key)"])
    }

    private static func tooMany(_ seconds: Int) -> Problem {
        .tooManyRequests("Too many failed sign-ins.", retryAfter: seconds)
    }
}
