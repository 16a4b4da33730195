import HesperModel
import NIOPosix

/// Computes and checks password hashes on background threads. The number of concurrent hashes is limited, because each takes 128
/// MiB of memory and a third of a second at the default cost.
actor Passwords {
    private let limits: PasswordLimits
    /// Reads the password hashes of all accounts.
    private let storedHashes: @Sendable () async throws -> [String]
    /// The scrypt costs that every check computes: the configured cost, and the costs of all stored hashes.
    private var costs: Set<Int>
    private var hasReadCosts = false
    private let hashes: Semaphore<SingleKey>

    init(limits: PasswordLimits, storedHashes: @escaping @Sendable () async throws -> [String] = { [] }) {
        self.limits = limits
        self.storedHashes = storedHashes
        costs = [limits.cost]
        hashes = Semaphore(
            PermitLimits(total: limits.maxConcurrent, perKey: limits.maxConcurrent, waitingPerKey: limits.waiting),
            refusal: .tooManyRequests("Too many concurrent sign-ins.", retryAfter: 10))
    }

    func hash(_ password: String) async throws -> String {
        let cost = limits.cost
        return try await work { try PasswordHash.make(password, cost: cost) }
    }

    /// Whether `hash` is the hash of this password. If the account does not exist, pass nil: the result is false, and the check
    /// takes as long as for an existing account.
    ///
    /// A hash keeps the cost with which it was computed. After the configured cost has changed, every check therefore computes a
    /// hash with each cost that is in use. Otherwise the time of a check would reveal whether the account exists.
    func matches(_ password: String, _ hash: String?) async throws -> Bool {
        try await readCosts()
        // The cost of `hash` is added, because another process may have stored `hash` with a new cost after the costs were read.
        if let cost = hash.flatMap({ PasswordHash.cost(of: $0) }) { costs.insert(cost) }
        let all = costs.sorted()
        return try await work { try PasswordHash.matches(password, hash, inTheTimeOf: all) }
    }

    /// Reads the costs of the stored hashes, unless they were read before. Concurrent first calls may all read the costs.
    private func readCosts() async throws {
        guard !hasReadCosts else { return }
        let hashes = try await storedHashes()
        costs.formUnion(hashes.compactMap { PasswordHash.cost(of: $0) })
        hasReadCosts = true
    }

    /// Runs a computation on a background thread. If the maximum number of computations is running, waits until one of them ends.
    /// - Throws: `too-many-requests` if too many tasks are waiting already.
    private func work<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await hashes.withPermit(.shared) { try await NIOThreadPool.singleton.runIfActive(body) }
    }
}
