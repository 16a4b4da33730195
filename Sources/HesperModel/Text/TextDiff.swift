/// A run of base tokens (or lines) and what replaces it in one side. One of the two may be empty.
struct TextHunk: Equatable, Sendable {
    var base: Range<Int>
    var side: Range<Int>
    /// Whether the alignment stopped early for lack of budget. The two parts may still have much in common.
    var isCoarse = false

    /// Whether it is only an insertion or only a deletion.
    var isPure: Bool { base.isEmpty != side.isEmpty }

    /// The hunk without the common prefix and suffix of its numbers.
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
    /// The comparisons so far. Never more than 64 per token plus 65,536: the work after the limit is reached is at most one run
    /// along a diagonal or one sorting of anchors, and trimming the remaining boxes.
    private(set) var steps = 0
    /// The number of comparisons after which the search for a finer alignment stops. The remaining boxes are treated as replaced
    /// as a whole.
    let limit: Int

    /// The budget for texts with `count` tokens in total.
    init(tokens count: Int) { limit = 32 * count + 65_536 }

    var isSpent: Bool { steps >= limit }

    mutating func spend(_ count: Int) { steps += count }
}

/// The difference of two sequences of numbers.
///
/// Small differences are found by Myers' algorithm (1986). Large ones are first split at numbers that occur once in both
/// sequences (Cohen's patience diff). If the budget does not suffice for either, the remaining part is treated as replaced as a
/// whole.
struct TextDiff {
    /// The method to try first.
    enum Method {
        /// For lines: a line that occurs once in both texts is a better anchor than the minimum number of differences.
        case anchors
        /// For words, most of which occur often.
        case search
    }

    /// The maximum number of insertions and deletions that Myers' algorithm searches for in one box. Its time is quadratic in
    /// this number.
    static let maximumDifferences = 256

    private let base: ArraySlice<Int32>
    private let side: ArraySlice<Int32>
    private(set) var hunks: [TextHunk] = []

    /// Compares two slices. The hunks use the slices' indices.
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

    /// Myers' greedy algorithm. Returns nil if there are more than `maximumDifferences`, or if the budget is spent.
    private func differences(_ box: TextHunk, budget: inout TextBudget) -> [TextHunk]? {
        if budget.isSpent { return nil }
        let (n, m) = (box.base.count, box.side.count)
        let (baseStart, sideStart) = (box.base.lowerBound, box.side.lowerBound)
        let limit = min(n + m, Self.maximumDifferences)
        // furthest[d][k + d]: how far in the base diagonal k reaches with d differences.
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

    /// The start of diagonal k after one more difference: an insertion or a deletion.
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
