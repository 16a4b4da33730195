import Synchronization

/// Counts requests that are being processed. Beyond a limit, responses carry `Retry-After` (protocol.md, HTTP rules).
final class Load: Sendable {
    private let limit: Int
    private let requests = Atomic<Int>(0)

    /// The value of `Retry-After`, in seconds.
    static let retryAfter = "2"

    init(limit: Int) { self.limit = limit }

    /// - Returns: whether the limit is exceeded.
    func begin() -> Bool { requests.add(1, ordering: .relaxed).newValue > limit }

    func end() { requests.subtract(1, ordering: .relaxed) }
}
