import HesperModel
import HesperStore

/// How often passwords may be tried (protocol.md, Signing in).
struct SignInGate: Sendable {
    private let accounts: RateLimiter
    private let addresses: RateLimiter
    private let signUps: RateLimiter

    init(limits: SignInLimits) {
        accounts = RateLimiter(limits.perAccount)
        addresses = RateLimiter(limits.perAddress)
        signUps = RateLimiter(limits.signUps)
    }

    /// Lets a try of a password through, and forgets it if the password was right.
    /// - Parameter check: whether the password is right.
    /// - Throws: `too-many-requests`, without a check.
    func attempt(email: String, from address: ClientAddress, _ check: () async throws -> Bool) async throws -> Bool {
        let account = Account.key(of: email)
        if let seconds = addresses.take(address.key) { throw tooMany(seconds) }
        if let seconds = accounts.take(account) {
            addresses.giveBack(address.key)
            throw tooMany(seconds)
        }
        let isRight = try await check()
        if isRight {
            addresses.giveBack(address.key)
            accounts.giveBack(account)
        }
        return isRight
    }

    /// Lets somebody make an account.
    func signUp(from address: ClientAddress) throws(Problem) {
        guard !address.isLoopback else { return }
        if let seconds = signUps.take(address.key) {
            throw .tooManyRequests("Too many accounts were made from this address.", retryAfter: seconds)
        }
    }

    private func tooMany(_ seconds: Int) -> Problem {
        .tooManyRequests("Too many passwords were tried.", retryAfter: seconds)
    }
}
