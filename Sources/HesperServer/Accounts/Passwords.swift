import HesperModel
import NIOPosix

/// Makes and checks passwords' hashes on threads of their own, a bounded number at once: each takes 128 MiB and a third of a
/// second.
actor Passwords {
    private let limits: PasswordLimits
    /// Reads all hashes that are kept.
    private let kept: @Sendable () async throws -> [String]
    /// What is paid for each check: today's cost, and each that a kept hash has.
    private var costs: Set<Int>
    private var hasReadKept = false
    private let hashes: Semaphore<Everybody>

    init(limits: PasswordLimits, kept: @escaping @Sendable () async throws -> [String] = { [] }) {
        self.limits = limits
        self.kept = kept
        costs = [limits.cost]
        hashes = Semaphore(
            PermitLimits(total: limits.atOnce, perKey: limits.atOnce, waitingPerKey: limits.waiting),
            refusal: .tooManyRequests("Too many are signing in at once.", retryAfter: 10))
    }

    func hash(_ password: String) async throws -> String {
        let cost = limits.cost
        return try await work { try PasswordHash.make(password, cost: cost) }
    }

    /// Whether the hash is this password's. Nil for an account that is not there, which takes as long and is false.
    ///
    /// A hash keeps the cost that it was made with. So after the operator has set another cost, each check takes as long as one of each:
    /// or the time would tell who has an account since before.
    func matches(_ password: String, _ hash: String?) async throws -> Bool {
        try await readKept()
        // One that another process has made since.
        if let cost = hash.flatMap({ PasswordHash.cost(of: $0) }) { costs.insert(cost) }
        let all = costs.sorted()
        return try await work { try PasswordHash.matches(password, hash, inTheTimeOf: all) }
    }

    /// Once; those who come first may each do it.
    private func readKept() async throws {
        guard !hasReadKept else { return }
        let hashes = try await kept()
        costs.formUnion(hashes.compactMap { PasswordHash.cost(of: $0) })
        hasReadKept = true
    }

    /// - Throws: `too-many-requests` when too many wait already.
    private func work<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await hashes.withPermit(.all) { try await NIOThreadPool.singleton.runIfActive(body) }
    }
}
