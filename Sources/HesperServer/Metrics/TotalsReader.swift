import HesperStore

/// How much the installation holds. Whoever counts it looks at every account, so it is counted once a minute at most, however
/// often somebody asks, and told with its age (docs/decisions/0046).
actor TotalsReader {
    private let store: any Store
    private var last: (totals: Totals, date: ContinuousClock.Instant)?
    /// That which others wait for, too.
    private var count: Task<Totals, any Error>?

    /// How long what was counted is told.
    static let lifetime = Duration.seconds(60)

    init(store: any Store) { self.store = store }

    /// - Returns: what was counted, and how long ago.
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
