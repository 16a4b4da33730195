internal import GRDB
internal import HesperModel
internal import Observation

/// A value that is read from the store, now and after each change. See ``LocalStore/values(_:where:order:limit:)``.
public struct Snapshots<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    private let start: @Sendable () -> AsyncThrowingStream<Element, any Error>

    init(_ database: LocalDatabase, _ fetch: @escaping @Sendable (RecordsTransaction) throws -> Element) {
        start = {
            // Only the newest value is kept for an observer that is slower than the changes.
            let (stream, continuation) = AsyncThrowingStream.makeStream(
                of: Element.self, bufferingPolicy: .bufferingNewest(1))
            let observation = ValueObservation.tracking { [now = database.now, makeID = database.makeID] db in
                try fetch(RecordsTransaction(db, now: now(), makeID: makeID))
            }
            let cancellable = observation.removeDuplicates().start(
                in: database.writer, scheduling: .async(onQueue: .global()),
                onError: { continuation.finish(throwing: StoreError.reported($0)) },
                onChange: { continuation.yield($0) })
            continuation.onTermination = { _ in cancellable.cancel() }
            return stream
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(base: start().makeAsyncIterator()) }

    /// The iterator of ``Snapshots``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Element, any Error>.Iterator

        public mutating func next() async throws -> Element? { try await base.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
            try await base.next(isolation: actor)
        }
    }
}
