import HesperStore
import NIOConcurrencyHelpers

/// Pages of feeds that are read before they are requested: while a client receives one page, the next one is read. Otherwise, the
/// store would have nothing to do for a third of the time of a first sync.
final class PagePrefetch: Sendable {
    /// Identifies a page and the layout of its response.
    struct Key: Hashable {
        let token: SyncToken
        let selection: Selection
        let limit: Int
        let shape: FeedResponse.Shape
        /// Whether the response begins with the member `results`.
        let hasResults: Bool

        init(token: SyncToken, selection: Selection, limit: Int, shape: FeedResponse.Shape, hasResults: Bool) {
            var token = token
            // A page is prefetched before it is known what remains.
            token.remaining = nil
            self.token = token
            self.selection = selection
            self.limit = limit
            self.shape = shape
            self.hasResults = hasResults
        }
    }

    /// A page smaller than this number of bytes is not followed by a prefetch, because it is read within a millisecond.
    static let minimumBytes = 256 << 10
    /// The maximum number of prefetched pages, because each may take several megabytes of memory.
    static let limit = 4
    /// The time after which a page that was not requested is discarded.
    private let lifetime: Duration

    private struct Entry {
        /// The head of the scope in the snapshot that the page is read from.
        let head: ScopeHead
        let reading: PageReading
    }

    private let entries = NIOLockedValueBox<[Key: Entry]>([:])

    init(lifetime: Duration = .seconds(2)) { self.lifetime = lifetime }

    /// The number of prefetched pages.
    var count: Int { entries.withLockedValue(\.count) }

    /// Starts to read a page, unless it is already being read or the maximum number of pages has been reached.
    /// - Parameters:
    ///   - head: the head that the scope must have in the snapshot from which `read` reads the page.
    ///   - read: starts to read the page.
    func add(_ key: Key, head: ScopeHead, _ read: () -> PageReading) {
        let reading: PageReading? = entries.withLockedValue { entries in
            guard entries[key] == nil, entries.count < PagePrefetch.limit else { return nil }
            let reading = read()
            entries[key] = Entry(head: head, reading: reading)
            return reading
        }
        guard let reading else { return }
        Task {
            try await Task.sleep(for: lifetime)
            entries.withLockedValue { if $0[key]?.reading === reading { $0[key] = nil } }
        }
    }

    /// Removes a page and returns it. Returns nil if the page was not prefetched, or if the scope has changed since then.
    /// - Parameter head: the current head of the scope.
    func take(_ key: Key, head: ScopeHead) -> PageReading? {
        guard let entry = entries.withLockedValue({ $0.removeValue(forKey: key) }), entry.head == head else {
            return nil
        }
        return entry.reading
    }
}
