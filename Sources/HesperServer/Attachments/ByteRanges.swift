import HesperModel

/// Parses byte ranges in `Range` (RFC 9110, 14.1.2).
///
///     try ByteRanges.read("bytes=0-99,-100", of: 1_000)   // [0..<100, 900..<1000]
enum ByteRanges {
    /// The maximum number of ranges per request. If a request has more, its `Range` is ignored and the whole content is sent.
    static let limit = 16

    /// Parses the value of a header `Range`.
    /// - Parameter byteCount: the size of the content.
    /// - Returns: the requested ranges, in the requested order. A range that extends past the end of the content ends at the end of
    ///   the content, and a range that begins past the end is left out. If any ranges overlap, all ranges are sorted, and
    ///   overlapping and adjacent ranges are merged. Nil if the header must be ignored: its unit is not `bytes`, its syntax is
    ///   invalid, or it has more than ``limit`` ranges.
    /// - Throws: ``Problem`` `range-not-satisfiable` if no byte of the content is in any range.
    static func read(_ text: String, of byteCount: Int64) throws(Problem) -> [Range<Int64>]? {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].trimmed.lowercased() == "bytes" else { return nil }
        let specs = halves[1].split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
        guard !specs.isEmpty, specs.count <= limit else { return nil }
        var ranges: [Range<Int64>] = []
        for spec in specs {
            guard let range = range(spec, of: byteCount) else { return nil }
            if !range.isEmpty { ranges.append(range) }
        }
        guard !ranges.isEmpty else {
            throw Problem(
                .rangeNotSatisfiable,
                "The range \(text.prefix(100)) is outside the content, which has \(byteCount) bytes.",
                at: "Range", context: ["byteCount": .integer(byteCount)])
        }
        return merged(ranges)
    }

    /// Parses one range.
    /// - Returns: the range, which ends at the latest at the end of the content and may be empty. Nil if the syntax is invalid.
    private static func range(_ spec: Substring, of byteCount: Int64) -> Range<Int64>? {
        let ends = spec.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let last = number(ends[1]) else { return nil }
            return byteCount - min(last, byteCount)..<byteCount
        }
        guard let first = number(ends[0]) else { return nil }
        guard !ends[1].isEmpty else { return min(first, byteCount)..<byteCount }
        guard let last = number(ends[1]), last >= first else { return nil }
        let end = last >= byteCount ? byteCount : last + 1
        return min(first, end)..<end
    }

    /// Parses a number. A number that does not fit into 64 bits becomes `Int64.max`. Nil if the text does not consist of digits.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }

    /// If any ranges overlap, sorts the ranges and merges overlapping and adjacent ones, so that no byte is sent twice.
    private static func merged(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        guard zip(sorted, sorted.dropFirst()).contains(where: { $0.upperBound > $1.lowerBound }) else { return ranges }
        return sorted.reduce(into: []) { merged, range in
            guard let last = merged.last, last.upperBound >= range.lowerBound else { return merged.append(range) }
            merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        }
    }
}
