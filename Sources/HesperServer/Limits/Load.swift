import Synchronization

/// Counts the requests that are being processed. If their number exceeds a limit, responses contain `Retry-After` (protocol.md,
/// HTTP rules).
final class Load: Sendable {
    private let limit: Int
    private let requests = Atomic<Int>(0)

    /// The value of `Retry-After`, in seconds.
    static let retryAfter = "2"

    init(limit: Int) { self.limit = limit }

    /// Counts a request that begins.
    /// - Returns: whether the limit is exceeded.
    func begin() -> Bool { requests.add(1, ordering: .relaxed).newValue > limit }

    func end() { requests.subtract(1, ordering: .relaxed) }
}
