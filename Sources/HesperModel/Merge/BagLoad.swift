/// How much of a bag a push has loaded, in bytes of bodies as they are kept: all of it is in memory until it is merged.
public struct BagLoad: Sendable {
    private let limit: Int
    private var bytes = 0

    public init(limit: Int) { self.limit = limit }

    /// Counts one body more.
    /// - Throws: ``Problem`` `too-large`, past the limit.
    public mutating func add(_ count: Int) throws(Problem) {
        bytes += count
        guard bytes <= limit else {
            throw Problem(
                .tooLarge,
                "What is kept of the objects of this push has more than \(limit) bytes: send fewer of them at once.",
                context: ["limit": .integer(Int64(limit))])
        }
    }
}
