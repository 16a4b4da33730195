/// Counts the bytes of the stored objects that the merge of a push loads, and limits their total. For each object, the bytes of its
/// JSON body are counted. All of these objects stay in memory until the push is merged.
public struct BagLoad: Sendable {
    private let limit: Int
    private var bytes = 0

    public init(limit: Int) { self.limit = limit }

    /// Counts the bytes of one more body.
    /// - Throws: ``Problem`` `too-large` if the total exceeds the limit.
    public mutating func add(_ count: Int) throws(Problem) {
        bytes += count
        guard bytes <= limit else {
            throw Problem(
                .tooLarge,
                "The stored objects that this push changes exceed \(limit) bytes. Split the push into smaller ones.",
                context: ["limit": .integer(Int64(limit))])
        }
    }
}
