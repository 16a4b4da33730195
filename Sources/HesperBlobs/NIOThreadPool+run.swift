import NIOPosix

extension NIOThreadPool {
    /// Runs blocking code on a thread of the pool. Unlike `runIfActive`, this function ignores the cancellation of the task, so
    /// writes and their clean-up are completed even if the client disconnects.
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
