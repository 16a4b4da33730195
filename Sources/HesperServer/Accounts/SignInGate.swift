import HesperModel
import HesperStore
import Logging

/// Limits how often passwords and codes can be tried (protocol.md, Signing in).
///
/// After several failed attempts, the next attempt is refused for some time. This time doubles with each further failure. Failures
/// are counted per pair of client address and account, so that an attacker at another address does not delay the sign-ins of the
/// account's owner.
struct SignInGate: Sendable {
    private let limits: SignInLimits
    private let logger: Logger
    private let accounts: RateLimiter<String>
    private let addresses: RateLimiter<String>
    private let signUps: RateLimiter<String>
    private let backoff: KeyedBackoff
    /// Limits how many password checks for one address may run or wait at the same time. Without this limit, one address could
    /// occupy the whole queue of ``Passwords``.
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

    /// Checks the password of a sign-in if no limit is exceeded. The attempt is not counted if the password is right, or if the
    /// password could not be checked.
    /// - Parameter check: returns whether the password is right.
    /// - Throws: `too-many-requests` if a limit is exceeded; `check` is not called in that case. Also throws the errors of
    ///   `check`.
    func attempt(email: String, from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        let account = Account.key(of: email)
        let pair = "\(address.key) \(account)"
        if let seconds = addresses.take(address.key) { throw SignInGate.tooMany(seconds) }
        // If there were too many failed attempts at the account from all addresses together, each address may make only one
        // attempt, instead of several, before it must wait. One attempt is enough for the owner of the account.
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
            // Concurrent checks from loopback are not limited, because a proxy on this machine may forward requests of many
            // clients.
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
            // The password was not checked, because too many sign-ins are waiting or because the database is unavailable. The
            // attempt is therefore not counted.
            giveBack()
            backoff.giveBack(pair)
            throw error
        }
    }

    /// Checks a code if no limit is exceeded. The attempt is not counted if the code is right, or if the code could not be
    /// checked.
    /// - Throws: `too-many-requests` if a limit is exceeded; `check` is not called in that case. Also throws the errors of
    ///   `check`.
    func attempt(from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        if let seconds = addresses.take(address.key) {
            throw Problem.tooManyRequests("Too many wrong codes were sent from this address.", retryAfter: seconds)
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

    /// Counts the creation of an account from an address.
    /// - Throws: `too-many-requests` if the address has created too many accounts.
    func signUp(from address: ClientAddress) throws(Problem) {
        guard !address.isLoopback else { return }
        if let seconds = signUps.take(address.key) {
            throw .tooManyRequests("Too many accounts were created from this address.", retryAfter: seconds)
        }
    }

    /// Logs a failed attempt, so that programs such as fail2ban can block the address (operating.md, Logs).
    private func logFailure(_ what: String, from address: ClientAddress) {
        logger.notice("\(what)", metadata: ["address": "\(address.text ?? address.key)"])
    }

    private static func tooMany(_ seconds: Int) -> Problem {
        .tooManyRequests("Too many failed sign-ins.", retryAfter: seconds)
    }
}
