import NIOPosix

extension NIOThreadPool {
    /// Does what blocks on a thread of the pool. Unlike `runIfActive` it is not given up when its task is cancelled: what
    /// must be kept, or undone, when a client goes away is done all the same.
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
