import Synchronization

/// How many requests are being answered: when there are many, answers ask for patience (protocol.md, HTTP manners).
final class Load: Sendable {
    private let limit: Int
    private let requests = Atomic<Int>(0)

    /// What `Retry-After` says then, in seconds.
    static let patience = "2"

    init(limit: Int) { self.limit = limit }

    /// - Returns: whether there are more than may be without asking for patience.
    func begin() -> Bool { requests.add(1, ordering: .relaxed).newValue > limit }

    func end() { requests.subtract(1, ordering: .relaxed) }
}
