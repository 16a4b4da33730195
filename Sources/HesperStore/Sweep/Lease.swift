import HesperModel

/// A lease that allows one process at a time to do a task. When it expires without being renewed, another process can acquire it.
public struct Lease: Sendable {
    private let name: String
    /// The duration of the lease in milliseconds. If the holder is killed, another process can do the task after at most this time.
    private let length: Int64
    /// The lease is renewed when its remaining time is less than this number of milliseconds.
    private let renewal: Int64
    private let holder = Int64.random(in: 1 ... .max)
    private var end: Timestamp?
    /// The number of times that this process has acquired the lease. Renewals are not counted. If the number has changed, another
    /// process may have held the lease in between.
    public private(set) var term = 0

    public static var sweeper: Lease { Lease("sweeper", length: 5 * 60_000, renewal: 4 * 60_000) }
    public static var webhooks: Lease { Lease("webhooks", length: 20_000, renewal: 12_000) }

    public init(_ name: String, length: Int64, renewal: Int64) {
        self.name = name
        self.length = length
        self.renewal = renewal
    }

    /// Acquires the lease, or renews it if it expires soon.
    /// - Returns: whether this process holds the lease.
    public mutating func hold(in store: any Store, at now: Timestamp) async throws -> Bool {
        if let end, now.adding(renewal) <= end { return true }
        let lease = self
        let isHeld = try await store.writeDerived { try lease.take(in: $0, at: now) }
        if isHeld, end.map({ $0 <= now }) ?? true { term += 1 }
        end = isHeld ? now.adding(length) : nil
        return isHeld
    }

    /// Acquires or renews the lease in a transaction, to check that this process still holds the lease.
    /// - Returns: whether this process holds the lease.
    public func take(in transaction: any Transaction, at now: Timestamp) throws -> Bool {
        try transaction.takeLease(name, for: holder, at: now, until: now.adding(length))
    }

    /// Releases the lease, so that another process can acquire it immediately.
    public func end(in store: any Store) async throws {
        guard end != nil else { return }
        let (name, holder) = (name, holder)
        try await store.writeDerived { try $0.endLease(name, of: holder) }
    }
}
