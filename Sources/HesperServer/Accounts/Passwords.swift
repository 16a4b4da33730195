import HesperModel
import NIOPosix

/// Makes and checks passwords' hashes away from the threads that serve, a bounded number at once: each takes 128 MiB and a
/// third of a second.
actor Passwords {
    private let limits: PasswordLimits
    private var working = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(limits: PasswordLimits) { self.limits = limits }

    func hash(_ password: String) async throws -> String {
        let cost = limits.cost
        return try await work { try PasswordHash.make(password, cost: cost) }
    }

    /// Whether the hash is this password's. Nil for an account that is not there, which takes as long and is false.
    func matches(_ password: String, _ hash: String?) async throws -> Bool {
        let hash = hash ?? PasswordHash.dummy(cost: limits.cost)
        return try await work { try PasswordHash.matches(password, hash) }
    }

    /// - Throws: `too-many-requests` when too many wait already.
    private func work<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        if working < limits.atOnce {
            working += 1
        } else {
            guard waiting.count < limits.waiting else {
                throw Problem.tooManyRequests("Too many are signing in at once.", retryAfter: 10)
            }
            // Whoever finishes hands its place over, so `working` stays as it is.
            await withCheckedContinuation { waiting.append($0) }
        }
        defer { if waiting.isEmpty { working -= 1 } else { waiting.removeFirst().resume() } }
        return try await NIOThreadPool.singleton.runIfActive(body)
    }
}
