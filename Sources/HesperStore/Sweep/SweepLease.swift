import HesperModel

/// The lease that allows one process at a time to sweep. Another process takes over when it expires.
struct SweepLease: Sendable {
    static let name = "sweeper"
    /// Its duration in milliseconds, which is the time without sweeps after the holder was killed.
    static let length: Int64 = 5 * 60 * 1_000
    /// The remaining time below which it is renewed, in milliseconds.
    static let renewal: Int64 = 4 * 60 * 1_000

    private let holder = Int64.random(in: 1 ... .max)
    private var end: Timestamp?

    /// Acquires or renews the lease, if necessary.
    /// - Returns: whether this process holds it.
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
