import NIOConcurrencyHelpers

/// Starts the next step of a ``BackgroundLoop`` immediately when it is fired. If it is fired while the loop is not waiting, the
/// next wait ends immediately.
public final class Trigger: Sendable {
    private struct State {
        var isFired = false
        var waiter: CheckedContinuation<Void, any Error>?
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    public func fire() {
        let waiter = state.withLockedValue { state in
            defer { state.waiter = nil }
            state.isFired = state.waiter == nil
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until the trigger is fired or the timeout expires. Only one task may wait at a time.
    /// - Parameter timeout: nil for no timeout.
    /// - Throws: `CancellationError`.
    func wait(for timeout: Duration?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.wait() }
            if let timeout { group.addTask { try await Task.sleep(for: timeout) } }
            try await group.next()
            group.cancelAll()
        }
    }

    private func wait() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let outcome = state.withLockedValue { state -> Result<Void, any Error>? in
                    if state.isFired {
                        state.isFired = false
                        return .success(())
                    }
                    // If the task is cancelled after this check, `onCancel` finds the waiter and resumes it.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiter = waiter
                    return nil
                }
                if let outcome { waiter.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }
}
