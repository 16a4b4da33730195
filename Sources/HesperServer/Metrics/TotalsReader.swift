import HesperStore

/// Counts the accounts, devices and attachment bytes of the whole installation. Counting reads every account, so the result is
/// cached for a minute and reported with its age (docs/decisions/0040).
actor TotalsReader {
    private let store: any Store
    private var last: (totals: Totals, date: ContinuousClock.Instant)?
    /// The task that counts at the moment, if there is one. Concurrent requests share it.
    private var count: Task<Totals, any Error>?

    /// The time for which totals are cached.
    static let lifetime = Duration.seconds(60)

    init(store: any Store) { self.store = store }

    /// Counts the totals, unless they are cached.
    /// - Returns: the totals, and the time since they were counted.
    func totals(at now: ContinuousClock.Instant = .now) async throws -> (totals: Totals, age: Duration) {
        if let last, now - last.date < TotalsReader.lifetime { return (last.totals, max(now - last.date, .zero)) }
        let count = count ?? Task { [store] in try await store.read { try $0.totals() } }
        self.count = count
        defer { self.count = nil }
        let totals = try await count.value
        last = (totals, now)
        return (totals, .zero)
    }
}
