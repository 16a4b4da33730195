import HesperModel
import NIOPosix

/// Computes and checks password hashes on background threads, with a limit on concurrency: each takes 128 MiB and a third of a
/// second.
actor Passwords {
    private let limits: PasswordLimits
    /// Reads all stored hashes.
    private let storedHashes: @Sendable () async throws -> [String]
    /// The costs of a check: the configured one, and those of stored hashes.
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

    /// Whether the hash is of this password. Nil for an account that does not exist, which takes as long and returns false.
    ///
    /// A hash keeps the cost that it was computed with. If the configured cost has changed, each check takes the time of all
    /// stored costs together; otherwise the time would reveal which accounts exist.
    func matches(_ password: String, _ hash: String?) async throws -> Bool {
        try await readCosts()
        // Another process may have stored a hash with another cost since.
        if let cost = hash.flatMap({ PasswordHash.cost(of: $0) }) { costs.insert(cost) }
        let all = costs.sorted()
        return try await work { try PasswordHash.matches(password, hash, inTheTimeOf: all) }
    }

    /// Reads the costs of stored hashes once. Concurrent first calls may each read them.
    private func readCosts() async throws {
        guard !hasReadCosts else { return }
        let hashes = try await storedHashes()
        costs.formUnion(hashes.compactMap { PasswordHash.cost(of: $0) })
        hasReadCosts = true
    }

    /// - Throws: `too-many-requests` if too many tasks are waiting already.
    private func work<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await hashes.withPermit(.shared) { try await NIOThreadPool.singleton.runIfActive(body) }
    }
}
