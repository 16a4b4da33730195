import NIOPosix

extension NIOThreadPool {
    /// Runs blocking code on a thread of the pool. Unlike `runIfActive`, it ignores cancellation of the task, so that writes and
    /// their clean-up are completed when a client disconnects.
    func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { done in
            submit { state in
                switch state {
                case .active: done.resume(with: Result(catching: body))
                case .cancelled: done.resume(throwing: CancellationError())
                }
            }
        }
    }
}
