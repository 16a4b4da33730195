import HesperModel

/// Keeps all but one process from sweeping: a row that names its holder until a date. Another takes over after that.
struct SweepLease: Sendable {
    static let name = "sweeper"
    /// In milliseconds: so long nobody sweeps after a process that did was killed.
    static let length: Int64 = 5 * 60 * 1_000
    /// What is left of it when it is renewed, in milliseconds.
    static let renewal: Int64 = 4 * 60 * 1_000

    private let holder = Int64.random(in: 1 ... .max)
    private var end: Timestamp?

    /// - Returns: whether this process holds it now.
    mutating func hold(in store: any Store, at now: Timestamp) async throws -> Bool {
        if let end, now.adding(SweepLease.renewal) <= end { return true }
        let (holder, end) = (holder, now.adding(SweepLease.length))
        let isHeld = try await store.writeDerived {
            try $0.takeLease(SweepLease.name, for: holder, at: now, until: end)
        }
        self.end = isHeld ? end : nil
        return isHeld
    }

    /// Lets the next one begin at once.
    func end(in store: any Store) async throws {
        guard end != nil else { return }
        let holder = holder
        try await store.writeDerived { try $0.endLease(SweepLease.name, of: holder) }
    }
}
