import HesperModel
import NIOConcurrencyHelpers

/// How many passwords of one address are checked, or wait to be, at once: so that one does not take the places of all.
/// Loopback is free: there, a proxy may speak for everybody.
final class AddressTurns: Sendable {
    private let limit: Int
    private let taken = NIOLockedValueBox<[String: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// - Throws: `too-many-requests`; what `body` throws.
    func take<T>(_ address: ClientAddress, _ body: () async throws -> T) async throws -> T {
        guard !address.isLoopback else { return try await body() }
        let isTaken = taken.withLockedValue { taken in
            guard taken[address.key, default: 0] < limit else { return false }
            taken[address.key, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw Problem.tooManyRequests("Too many are signing in from this address at once.", retryAfter: 5)
        }
        defer {
            taken.withLockedValue { taken in
                taken[address.key] = taken[address.key].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }
        return try await body()
    }
}
