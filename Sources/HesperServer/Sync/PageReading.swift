import HesperStore
import NIOCore

/// A page of a feed that is being read from the store. It is read without waiting for the client, so that a slow client does not
/// keep the snapshot open. Bytes that were not sent yet are buffered.
final class PageReading: Sendable {
    enum Part: Sendable {
        case chunk(ByteBuffer)
        /// The last chunk, to which the members that follow the lists must be added.
        case end(ByteBuffer, Page)
    }

    /// The number and the total size of the objects that follow the token with which the page was requested.
    let count: FeedCount
    let parts: AsyncThrowingStream<Part, any Error>
    private let reading: Task<Page, any Error>

    /// Starts to read a page.
    /// - Parameter read: reads the page, passes its chunks to the given function, and returns the last chunk and the page.
    init(
        _ count: FeedCount,
        _ read: @escaping @Sendable (@escaping @Sendable (ByteBuffer) -> Void) async throws -> (ByteBuffer, Page)
    ) {
        self.count = count
        let (parts, continuation) = AsyncThrowingStream.makeStream(of: Part.self)
        self.parts = parts
        reading = Task {
            do {
                let (last, page) = try await read { continuation.yield(.chunk($0)) }
                continuation.yield(.end(last, page))
                continuation.finish()
                return page
            } catch {
                continuation.finish(throwing: error)
                throw error
            }
        }
    }

    /// The page, when it has been read.
    var page: Page { get async throws { try await reading.value } }
}
