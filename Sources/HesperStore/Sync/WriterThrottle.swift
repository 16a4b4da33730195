/// Limits the share of time in which background work writes to the database, so that pushes are hardly delayed. Background work
/// is split into small transactions with pauses between them.
public struct WriterThrottle: Sendable {
    /// When a transaction has run for this time, it ends after the current item. The duration of the commit is not included.
    public static let budget = Duration.milliseconds(5)
    /// The duration of a pause, as a multiple of the duration of the transaction before it.
    public static let restPerWork = 9

    let instant: @Sendable () -> ContinuousClock.Instant
    let rest: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - instant: returns the current time.
    ///   - rest: waits for the given duration. It throws if the task is cancelled.
    public init(
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        rest: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.instant = instant
        self.rest = rest
    }

    /// Runs `step` for all items in order. Each transaction contains as many items as fit into the ``budget``, but at least one.
    func write<Item: Sendable>(
        _ items: [Item], to store: any Store, restPerWork: Int = WriterThrottle.restPerWork,
        _ step: @escaping @Sendable (Item, any Transaction) throws -> Void
    ) async throws {
        let instant = instant
        var remaining = items[...]
        while !remaining.isEmpty {
            let batch = remaining
            let (count, start) = try await store.writeDerived { transaction in
                // The measurement begins here, so that the time of waiting for the writer is not included.
                let start = instant()
                var count = 0
                for item in batch {
                    try step(item, transaction)
                    count += 1
                    if instant() - start >= WriterThrottle.budget { break }
                }
                return (count, start)
            }
            remaining = remaining.dropFirst(count)
            try await rest((instant() - start) * restPerWork)
        }
    }
}
