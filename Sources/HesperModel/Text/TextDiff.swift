/// A difference between the base and one side: a range of tokens (or lines) of the base, and the range of the side that
/// replaces it. One of the two ranges may be empty.
struct TextHunk: Equatable, Sendable {
    var base: Range<Int>
    var side: Range<Int>
    /// Whether the comparison stopped early to limit its time. The two ranges may then still have tokens in common.
    var isCoarse = false

    /// Whether the hunk is only an insertion or only a deletion.
    var isPure: Bool { base.isEmpty != side.isEmpty }

    /// The hunk without the common prefix and the common suffix of its two ranges. Tokens (or lines) are equal if their numbers are
    /// equal.
    func trimmed(_ numbers: ArraySlice<Int32>, _ sideNumbers: ArraySlice<Int32>, budget: inout TextBudget) -> TextHunk {
        var (start, sideStart) = (base.lowerBound, side.lowerBound)
        var (end, sideEnd) = (base.upperBound, side.upperBound)
        while start < end, sideStart < sideEnd, numbers[start] == sideNumbers[sideStart] {
            (start, sideStart) = (start + 1, sideStart + 1)
        }
        while start < end, sideStart < sideEnd, numbers[end - 1] == sideNumbers[sideEnd - 1] {
            (end, sideEnd) = (end - 1, sideEnd - 1)
        }
        budget.spend(base.count - (end - start) + 1)
        return TextHunk(base: start..<end, side: sideStart..<sideEnd, isCoarse: isCoarse)
    }
}

/// Counts the work of a merge and limits it.
struct TextBudget: Sendable {
    /// The number of comparisons so far. It may exceed ``limit``. If ``limit`` is reached while a run of equal tokens is compared,
    /// or while anchors are sorted, this work is completed. Afterwards, the remaining ranges are still trimmed. The number is at
    /// most 64 per token plus 65,536.
    private(set) var steps = 0
    /// The number of comparisons after which texts are no longer compared in detail. Each remaining range is then treated as
    /// replaced as a whole.
    let limit: Int

    /// The budget for texts with `count` tokens in total.
    init(tokens count: Int) { limit = 32 * count + 65_536 }

    var isSpent: Bool { steps >= limit }

    mutating func spend(_ count: Int) { steps += count }
}

/// The differences between two sequences of tokens or lines, each represented by a number (``TextNumbers``).
///
/// Myers' algorithm (1986) finds small differences. Large differences are first split at the numbers that occur exactly once in the
/// base and exactly once in the side, as `git diff --patience` does. After ``TextBudget/limit`` comparisons, the ranges that were not
/// compared are treated as replaced.
struct TextDiff {
    /// The method to try first.
    enum Method {
        /// Splits at numbers that occur once in both sequences. This is better for lines: a result that matches such lines is
        /// more useful than one with the fewest differences.
        case anchors
        /// Searches for the fewest differences. This is better for words, because most words occur often.
        case search
    }

    /// The maximum number of insertions and deletions that Myers' algorithm searches for in one part of the sequences. The time
    /// of the algorithm is quadratic in this number.
    static let maximumDifferences = 256

    private let base: ArraySlice<Int32>
    private let side: ArraySlice<Int32>
    private(set) var hunks: [TextHunk] = []

    /// Compares two slices. The ranges in the hunks are indices of the slices.
    init(
        _ base: ArraySlice<Int32>, _ side: ArraySlice<Int32>, first method: Method = .search,
        budget: inout TextBudget
    ) {
        self.base = base
        self.side = side
        var boxes = [TextHunk(base: base.indices, side: side.indices)]
        while var box = boxes.popLast() {
            box = box.trimmed(base, side, budget: &budget)
            if box.base.isEmpty || box.side.isEmpty {
                add(box)
                continue
            }
            if method == .search, let found = differences(box, budget: &budget) {
                for hunk in found { add(hunk) }
                continue
            }
            box.isCoarse = true
            if !budget.isSpent {
                let found = Self.anchors(box, base: base, side: side, budget: &budget)
                if !found.anchors.isEmpty {
                    boxes += Self.boxes(of: box, between: found.anchors).reversed()
                    continue
                }
                box.isCoarse = found.haveCommon
                if box.isCoarse, method == .anchors, let found = differences(box, budget: &budget) {
                    for hunk in found { add(hunk) }
                    continue
                }
            }
            add(box)
        }
    }

    private mutating func add(_ hunk: TextHunk) {
        if hunk.base.isEmpty && hunk.side.isEmpty { return }
        if let last = hunks.last, last.base.upperBound == hunk.base.lowerBound,
            last.side.upperBound == hunk.side.lowerBound
        {
            hunks[hunks.count - 1].base = last.base.lowerBound..<hunk.base.upperBound
            hunks[hunks.count - 1].side = last.side.lowerBound..<hunk.side.upperBound
            hunks[hunks.count - 1].isCoarse = last.isCoarse || hunk.isCoarse
        } else {
            hunks.append(hunk)
        }
    }

    /// Finds the fewest differences, by Myers' greedy algorithm. Returns nil if there are more than `maximumDifferences`, or if
    /// the budget is spent.
    private func differences(_ box: TextHunk, budget: inout TextBudget) -> [TextHunk]? {
        if budget.isSpent { return nil }
        let (n, m) = (box.base.count, box.side.count)
        let (baseStart, sideStart) = (box.base.lowerBound, box.side.lowerBound)
        let limit = min(n + m, Self.maximumDifferences)
        // Diagonal k consists of the points (x, y) with x - y = k, where x is a position in the base and y a position in the
        // side. furthest[d][k + d] is the greatest x that can be reached on diagonal k with d differences.
        var furthest: [[Int]] = []
        for d in 0...limit {
            var row = [Int](repeating: -1, count: 2 * d + 1)
            for k in stride(from: -d, through: d, by: 2) {
                var x = d == 0 ? 0 : Self.entry(furthest[d - 1], d: d - 1, k: k, in: box).x
                if x < 0 || x - k < 0 { continue }
                let from = x
                while x < n, x - k < m, base[baseStart + x] == side[sideStart + x - k] { x += 1 }
                budget.spend(x - from + 1)
                if budget.isSpent { return nil }
                row[k + d] = x
                if x == n, x - k == m { return path(box, furthest: furthest, d: d, k: k) }
            }
            furthest.append(row)
        }
        return nil
    }

    /// Finds the point where a path with d + 1 differences enters diagonal k (Myers 1986). Returns the position of this point in
    /// the base, or -1 if there is no such point. Also returns whether the last difference of the path is an insertion
    /// rather than a deletion.
    /// - Parameter row: the furthest positions in the base that paths with d differences reach, by diagonal.
    private static func entry(_ row: [Int], d: Int, k: Int, in box: TextHunk) -> (x: Int, isInsertion: Bool) {
        var inserted = k + 1 <= d && k + 1 >= -d ? row[k + 1 + d] : -1
        var deleted = k - 1 >= -d && k - 1 <= d && row[k - 1 + d] >= 0 ? row[k - 1 + d] + 1 : -1
        if inserted - k > box.side.count { inserted = -1 }
        if deleted > box.base.count { deleted = -1 }
        return (max(inserted, deleted), inserted >= deleted)
    }

    private func path(_ box: TextHunk, furthest: [[Int]], d: Int, k: Int) -> [TextHunk] {
        var single: [TextHunk] = []
        var k = k
        for d in stride(from: d, to: 0, by: -1) {
            let (x, isInsertion) = Self.entry(furthest[d - 1], d: d - 1, k: k, in: box)
            let (baseEnd, sideEnd) = (box.base.lowerBound + x, box.side.lowerBound + x - k)
            single.append(
                isInsertion
                    ? TextHunk(base: baseEnd..<baseEnd, side: (sideEnd - 1)..<sideEnd)
                    : TextHunk(base: (baseEnd - 1)..<baseEnd, side: sideEnd..<sideEnd))
            k += isInsertion ? 1 : -1
        }
        return single.reversed()
    }
}
