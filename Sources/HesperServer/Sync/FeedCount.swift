import HesperStore
import NIOConcurrencyHelpers

/// Counts the objects of a feed in a separate read, at most once. The end of the first page of a series contains the count. The objects
/// are counted while this page is being read, so that neither this page nor the next one waits for a long count.
final class FeedCount: Sendable {
    private let count: @Sendable () async throws -> ScanSize
    private let task = NIOLockedValueBox<Task<ScanSize, any Error>?>(nil)

    init(_ count: @escaping @Sendable () async throws -> ScanSize) { self.count = count }

    /// Starts to count, unless counting has already started.
    @discardableResult
    func start() -> Task<ScanSize, any Error> {
        task.withLockedValue { task in
            let started = task ?? Task(operation: count)
            task = started
            return started
        }
    }

    /// The count. Starts to count if necessary, and waits for the result.
    var value: ScanSize { get async throws { try await start().value } }
}
