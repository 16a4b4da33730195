import HesperModel

/// A lease that allows one process at a time to do a task. When it expires without being renewed, another process can acquire it.
public struct Lease: Sendable {
    private let name: String
    /// The duration of the lease in milliseconds. If the holder is killed, another process can do the task after
    /// at most this time.
    private let length: Int64
    /// The lease is renewed when its remaining time is less than this number of milliseconds.
    private let renewal: Int64
    private let holder = Int64.random(in: 1 ... .max)
    private var end: Timestamp?

    public init(_ name: String, length: Int64, renewal: Int64) {
        (self.name, self.length, self.renewal) = (name, length, renewal)
    }

    /// The lease of the sweeper.
    static var sweeper: Lease { Lease("sweeper", length: 5 * 60 * 1_000, renewal: 4 * 60 * 1_000) }

    /// Acquires the lease, or renews it if it expires soon.
    /// - Returns: whether this process holds the lease.
    public mutating func hold(in store: any Store, at now: Timestamp) async throws -> Bool {
        if let end, now.adding(renewal) <= end { return true }
        let (name, holder, end) = (name, holder, now.adding(length))
        let isHeld = try await store.writeDerived {
            try $0.takeLease(name, for: holder, at: now, until: end)
        }
        self.end = isHeld ? end : nil
        return isHeld
    }

    /// Releases the lease, so that another process can acquire it immediately.
    public func end(in store: any Store) async throws {
        guard end != nil else { return }
        let (name, holder) = (name, holder)
        try await store.writeDerived { try $0.endLease(name, of: holder) }
    }
}
