import HesperStore

/// Counts the contents of the whole installation. A count reads every account, so the result is cached for a minute and reported
/// with its age (docs/decisions/0046).
actor TotalsReader {
    private let store: any Store
    private var last: (totals: Totals, date: ContinuousClock.Instant)?
    /// A count in progress, which concurrent requests share.
    private var count: Task<Totals, any Error>?

    /// The time for which a count is cached.
    static let lifetime = Duration.seconds(60)

    init(store: any Store) { self.store = store }

    /// - Returns: the counts and their age.
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
