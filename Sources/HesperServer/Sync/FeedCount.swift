import HesperStore
import NIOConcurrencyHelpers

/// Counts the objects of a feed, in a read of its own, at most once. The first page of a series of pages needs the count at its end.
/// So that the page and the next one are not delayed, the objects are counted while the page is being read.
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
