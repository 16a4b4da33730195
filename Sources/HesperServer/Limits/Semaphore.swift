import HesperModel
import HesperStore
import NIOConcurrencyHelpers

/// Limits how many tasks hold a permit at the same time, in total and per key. Other tasks wait in the order of their arrival.
/// The number of waiting tasks per key is limited too. A task that is cancelled stops waiting.
///
///     let searches = Semaphore<ScopeID>(limits, refusal: .tooManyRequests("Too many searches.", retryAfter: 2))
///     try await searches.withPermit(scope) { … }
final class Semaphore<Key: Hashable & Sendable>: Sendable {
    private struct Waiter {
        let id: UInt64
        let key: Key
        let permit: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var total = 0
        var counts: [Key: Int] = [:]
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0

        func isFree(_ key: Key, _ limits: PermitLimits) -> Bool {
            total < limits.total && counts[key, default: 0] < limits.perKey
        }

        mutating func take(_ key: Key) {
            total += 1
            counts[key, default: 0] += 1
        }
    }

    private let limits: PermitLimits
    /// The error that is thrown if no permit is free and the maximum number of tasks is already waiting.
    let refusal: Problem
    private let state = NIOLockedValueBox(State())

    init(_ limits: PermitLimits, refusal: Problem) {
        self.limits = limits
        self.refusal = refusal
    }

    /// The number of keys that hold a permit.
    var keyCount: Int { state.withLockedValue(\.counts.count) }

    /// The number of tasks that wait for a permit.
    var waitingCount: Int { state.withLockedValue(\.waiters.count) }

    /// Waits for a permit, and holds it while `body` runs.
    /// - Throws: ``refusal``; `CancellationError` if the task is cancelled while it waits; the errors of `body`.
    func withPermit<T>(_ key: Key, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> T)
        async throws -> T
    {
        try await acquire(key)
        defer { release(key) }
        return try await body()
    }

    /// Takes a permit if one is free. Call ``release(_:)`` when it is no longer needed.
    /// - Returns: whether a permit was taken.
    func tryAcquire(_ key: Key) -> Bool {
        state.withLockedValue { state in
            guard state.isFree(key, limits) else { return false }
            state.take(key)
            return true
        }
    }

    /// Waits for a permit. Call ``release(_:)`` when it is no longer needed.
    /// - Throws: ``refusal``; `CancellationError` if the task is cancelled while it waits.
    func acquire(_ key: Key) async throws {
        let id = state.withLockedValue { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { permit in
                let outcome = state.withLockedValue { state -> Result<Void, any Error>? in
                    if state.isFree(key, limits) {
                        state.take(key)
                        return .success(())
                    }
                    // If the task is cancelled after this check, `onCancel` removes the waiting task from the queue and resumes it
                    // with an error.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.waiters.count(where: { $0.key == key }) < limits.waitingPerKey else {
                        return .failure(refusal)
                    }
                    state.waiters.append(Waiter(id: id, key: key, permit: permit))
                    return nil
                }
                if let outcome { permit.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.permit.resume(throwing: CancellationError())
        }
    }

    /// Releases a permit. The first waiting task whose key is below its limit gets the permit.
    func release(_ key: Key) {
        let next = state.withLockedValue { state -> Waiter? in
            state.total -= 1
            state.counts[key] = state.counts[key].flatMap { $0 > 1 ? $0 - 1 : nil }
            guard let index = state.waiters.firstIndex(where: { state.isFree($0.key, limits) }) else { return nil }
            state.take(state.waiters[index].key)
            return state.waiters.remove(at: index)
        }
        next?.permit.resume()
    }
}

extension Semaphore where Key == ScopeID {
    /// Limits concurrent expensive operations, globally and per account.
    /// - Parameter what: the name of the operations in the error message, such as "searches".
    static func perAccount(_ what: String, _ limits: PermitLimits) -> Semaphore {
        Semaphore(limits, refusal: .tooManyRequests("Too many concurrent \(what) of this account.", retryAfter: 2))
    }
}

/// The key type of a semaphore that has one limit for all tasks. The type has only one value.
enum SingleKey: Hashable, Sendable { case shared }

/// The limits of a semaphore: the maximum number of permits, and the maximum number of tasks that wait for a permit.
public struct PermitLimits: Sendable {
    /// The maximum number of permits for all keys together.
    public var total: Int
    public var perKey: Int
    /// The maximum number of waiting tasks per key. Further tasks are refused.
    public var waitingPerKey: Int

    public init(total: Int = .max, perKey: Int, waitingPerKey: Int = 0) {
        self.total = total
        self.perKey = perKey
        self.waitingPerKey = waitingPerKey
    }
}
