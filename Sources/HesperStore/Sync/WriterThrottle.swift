/// Limits the share of time in which background work writes: small transactions with pauses between, so that pushes are hardly delayed.
public struct WriterThrottle: Sendable {
    /// How long the writer is kept at a time, beside the commit; whatever is under way then is still finished.
    public static let budget = Duration.milliseconds(5)
    /// For each moment of the writer's time, so many without it.
    public static let restPerWork = 9

    let instant: @Sendable () -> ContinuousClock.Instant
    let rest: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - instant: tells how long something took.
    ///   - rest: waits; throws if it is cancelled.
    public init(
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        rest: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.instant = instant
        self.rest = rest
    }

    /// Does `step` for all items, in their order: as many a transaction as its time allows, one at least.
    func write<Item: Sendable>(
        _ items: [Item], to store: any Store, restPerWork: Int = WriterThrottle.restPerWork,
        _ step: @escaping @Sendable (Item, any Transaction) throws -> Void
    ) async throws {
        let instant = instant
        var left = items[...]
        while !left.isEmpty {
            let turn = left
            let (count, start) = try await store.writeDerived { transaction in
                // Waiting for the writer does not count.
                let start = instant()
                var count = 0
                for item in turn {
                    try step(item, transaction)
                    count += 1
                    if instant() - start >= WriterThrottle.budget { break }
                }
                return (count, start)
            }
            left = left.dropFirst(count)
            try await rest((instant() - start) * restPerWork)
        }
    }
}
