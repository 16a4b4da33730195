import HesperModel

/// The lease that allows one process at a time to sweep. When it expires without being renewed, another process can acquire it.
struct SweepLease: Sendable {
    static let name = "sweeper"
    /// The duration of the lease in milliseconds. If the holder is killed, another process can sweep after at most this time.
    static let length: Int64 = 5 * 60 * 1_000
    /// The lease is renewed when its remaining time is less than this number of milliseconds.
    static let renewal: Int64 = 4 * 60 * 1_000

    private let holder = Int64.random(in: 1 ... .max)
    private var end: Timestamp?

    /// Acquires the lease, or renews it if it expires soon.
    /// - Returns: whether this process holds the lease.
    mutating func hold(in store: any Store, at now: Timestamp) async throws -> Bool {
        if let end, now.adding(SweepLease.renewal) <= end { return true }
        let (holder, end) = (holder, now.adding(SweepLease.length))
        let isHeld = try await store.writeDerived {
            try $0.takeLease(SweepLease.name, for: holder, at: now, until: end)
        }
        self.end = isHeld ? end : nil
        return isHeld
    }

    /// Releases the lease, so that another process can acquire it immediately.
    func end(in store: any Store) async throws {
        guard end != nil else { return }
        let holder = holder
        try await store.writeDerived { try $0.endLease(SweepLease.name, of: holder) }
    }
}
