import HesperModel
import HesperStore
import Logging

/// How often passwords and codes may be tried (protocol.md, Signing in).
///
/// What is counted is who tries which account: a stranger who tries one for days makes nobody wait but themselves.
struct SignInGate: Sendable {
    private let limits: SignInLimits
    private let logger: Logger
    private let accounts: RateLimiter<String>
    private let addresses: RateLimiter<String>
    private let signUps: RateLimiter<String>
    private let backoff: KeyedBackoff
    /// Passwords that are checked, or wait to be: one address does not occupy all permits.
    private let checks: Semaphore<String>

    init(limits: SignInLimits, logger: Logger) {
        self.limits = limits
        self.logger = logger
        accounts = RateLimiter(limits.perAccount)
        addresses = RateLimiter(limits.perAddress)
        signUps = RateLimiter(limits.signUps)
        backoff = KeyedBackoff(limits)
        checks = Semaphore(
            PermitLimits(perKey: limits.atOncePerAddress),
            refusal: .tooManyRequests("Too many are signing in from this address at once.", retryAfter: 5))
    }

    /// Lets a try of a password through, and forgets it if the password was right, or was not checked after all.
    /// - Parameter check: whether the password is right.
    /// - Throws: `too-many-requests`, without a check; what `check` throws.
    func attempt(email: String, from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        let account = Account.key(of: email)
        let pair = "\(address.key) \(account)"
        if let seconds = addresses.take(address.key) { throw SignInGate.tooMany(seconds) }
        // While many try one account from many places, each place has one try instead of a few: its owner needs no more.
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
            // A proxy on loopback may sign in many.
            let isRight =
                address.isLoopback ? try await check() : try await checks.withPermit(address.key, check)
            if isRight {
                giveBack()
                backoff.reset(pair)
            } else {
                tell("Wrong password", from: address)
            }
            return isRight
        } catch {
            // Too many are signing in, or the store is away: nobody knows whether it was right.
            giveBack()
            backoff.giveBack(pair)
            throw error
        }
    }

    /// Lets a try of a code through, and forgets it if the code was right, or was not checked after all.
    /// - Throws: `too-many-requests`, without a check; what `check` throws.
    func attempt(from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        if let seconds = addresses.take(address.key) {
            throw Problem.tooManyRequests("Too many codes were tried.", retryAfter: seconds)
        }
        do {
            let isRight = try await check()
            if isRight { addresses.giveBack(address.key) } else { tell("Wrong code", from: address) }
            return isRight
        } catch {
            addresses.giveBack(address.key)
            throw error
        }
    }

    /// Lets somebody make an account.
    func signUp(from address: ClientAddress) throws(Problem) {
        guard !address.isLoopback else { return }
        if let seconds = signUps.take(address.key) {
            throw .tooManyRequests("Too many accounts were made from this address.", retryAfter: seconds)
        }
    }

    /// For programs that lock addresses out, such as fail2ban (operating.md, Logs).
    private func tell(_ what: String, from address: ClientAddress) {
        logger.notice("\(what)", metadata: ["address": "\(address.text ?? address.key)"])
    }

    private static func tooMany(_ seconds: Int) -> Problem {
        .tooManyRequests("Too many passwords were tried.", retryAfter: seconds)
    }
}
