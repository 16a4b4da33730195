import HesperModel

/// The value of `Range` in bytes (RFC 9110, 14.1.2).
///
///     try ByteRanges.read("bytes=0-99,-100", of: 1_000)   // [0..<100, 900..<1000]
enum ByteRanges {
    /// Ranges that one request may ask for; more are answered with everything.
    static let limit = 16

    /// - Parameter byteCount: of the whole.
    /// - Returns: the ranges that there are, in the order asked for, those that overlap as one; nil for a value that is to
    ///   be ignored.
    /// - Throws: ``Problem`` `range-not-satisfiable` if none is there.
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
                .rangeNotSatisfiable, "There are \(byteCount) bytes; none of \(text.prefix(100)) is among them.",
                at: "Range", context: ["byteCount": .integer(byteCount)])
        }
        return merged(ranges)
    }

    /// - Returns: an empty range for one that is not there, nil for what is none.
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

    /// Digits alone; more of them than any file has bytes are the greatest number.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }

    /// As one, if any overlap: nobody is sent the same bytes many times over.
    private static func merged(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        guard zip(sorted, sorted.dropFirst()).contains(where: { $0.upperBound > $1.lowerBound }) else { return ranges }
        return sorted.reduce(into: []) { merged, range in
            guard let last = merged.last, last.upperBound >= range.lowerBound else { return merged.append(range) }
            merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        }
    }
}
