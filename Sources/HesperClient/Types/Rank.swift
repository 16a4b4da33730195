/// The position of an object in a list that the user sorts by hand.
///
/// A new rank can always be created between two others, so moving an object changes only that object.
///
///     step.rank = Rank(between: previous?.rank, and: next?.rank)
///     store.values(Step.self, order: .ascending(\.$rank))
///
/// A rank is a text of digits and letters, compared by its bytes. It ends with random digits, so that two devices that
/// insert at the same place create different ranks.
public struct Rank: MergedScalar, Hashable, Comparable, CustomStringConvertible {
    /// The text of the rank.
    public let description: String

    /// Creates a rank without neighbours, for example for the first object of a list.
    public init() { self.init(between: nil, and: nil) }

    /// Creates a rank between two neighbours.
    /// - Parameters:
    ///   - lower: the rank before the new one; nil to insert before all others.
    ///   - upper: the rank after the new one; nil to insert after all others. If it is not greater than `lower`, which is
    ///     possible if two devices sorted a list at the same time, the new rank is after `lower`.
    public init(between lower: Rank?, and upper: Rank?) {
        var generator = SystemRandomNumberGenerator()
        self.init(between: lower, and: upper, using: &generator)
    }

    /// Creates a rank between two neighbours, with the random digits of a generator.
    public init(between lower: Rank?, and upper: Rank?, using generator: inout some RandomNumberGenerator) {
        let low = (lower?.description).map(Rank.digits) ?? []
        var high = (upper?.description).map(Rank.digits)
        if let upper, let lower, upper <= lower { high = nil }
        var made: [Int] = []
        var index = 0
        var isBelowHigh = high == nil
        // Copies digits of `low` up to the first position at which there is a digit between those of `low` and `high`.
        while true {
            let floor = index < low.count ? low[index] : 0
            let ceiling = isBelowHigh ? Rank.alphabet.count : high.flatMap { index < $0.count ? $0[index] : nil } ?? 0
            index += 1
            if ceiling - floor > 1 {
                // With only one neighbour, the digit is chosen near the neighbour's digit. Many ranks can then be added at an end
                // of the list before a rank needs an additional digit.
                let step = Swift.min((ceiling - floor) / 2, 8)
                made.append(
                    lower == nil && upper != nil
                        ? ceiling - step : upper == nil && lower != nil ? floor + step : (floor + ceiling) / 2)
                break
            }
            made.append(floor)
            if floor < ceiling { isBelowHigh = true }
        }
        // A rank must not end with the smallest digit, because nothing could be inserted before it.
        made.append(Int.random(in: 0..<Rank.alphabet.count, using: &generator))
        made.append(Int.random(in: 1..<Rank.alphabet.count, using: &generator))
        description = String(decoding: made.map { Rank.alphabet[$0] }, as: UTF8.self)
    }

    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    private static func digits(_ text: String) -> [Int] { text.utf8.map { alphabet.firstIndex(of: $0) ?? 0 } }

    public static func < (left: Rank, right: Rank) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    /// Reads the text of a rank.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        description = try container.decode(String.self)
        guard let last = description.utf8.last, last != Rank.alphabet[0],
            description.utf8.allSatisfy({ Rank.alphabet.contains($0) })
        else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "A rank must consist of digits and letters, and must not end with 0.")
        }
    }

    /// Writes the text of the rank.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
