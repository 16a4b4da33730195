/// A run of base tokens (or lines) and what one side has in its place. One of the two may be empty.
struct TextHunk: Equatable, Sendable {
    var base: Range<Int>
    var side: Range<Int>
    /// What was left where a finer alignment would have taken too long: the two may have much in common.
    var isCoarse = false

    /// Either something is inserted or something is deleted, not both.
    var isPure: Bool { base.isEmpty != side.isEmpty }

    /// What is left without the numbers that both begin or end with.
    func trimmed(_ numbers: ArraySlice<Int32>, _ sideNumbers: ArraySlice<Int32>, effort: inout TextBudget) -> TextHunk {
        var (start, sideStart) = (base.lowerBound, side.lowerBound)
        var (end, sideEnd) = (base.upperBound, side.upperBound)
        while start < end, sideStart < sideEnd, numbers[start] == sideNumbers[sideStart] {
            (start, sideStart) = (start + 1, sideStart + 1)
        }
        while start < end, sideStart < sideEnd, numbers[end - 1] == sideNumbers[sideEnd - 1] {
            (end, sideEnd) = (end - 1, sideEnd - 1)
        }
        effort.spend(base.count - (end - start) + 1)
        return TextHunk(base: start..<end, side: sideStart..<sideEnd, isCoarse: isCoarse)
    }
}

/// How much work a merge has done and may do.
struct TextBudget: Sendable {
    /// Comparisons made so far: never more than 64 a token and 65,536, since what runs when the limit is passed is one
    /// run along a diagonal or one sorting of anchors, and trimming what is left.
    private(set) var steps = 0
    /// Where searching for a finer alignment ends; what is left is then taken as replaced whole.
    let limit: Int

    /// For a merge of texts that have `count` tokens together.
    init(tokens count: Int) { limit = 32 * count + 65_536 }

    var isSpent: Bool { steps >= limit }

    mutating func spend(_ count: Int) { steps += count }
}

/// The difference of two sequences of numbers.
///
/// Small differences are found by Myers' search (1986). Large ones are first cut at numbers that occur once in both
/// sequences (Cohen's patience diff). If neither ends within the allowed effort, the rest is taken as replaced whole.
struct TextDiff {
    /// What is tried first.
    enum Method {
        /// For lines: one that stands once in both says more than the least number of differences.
        case anchors
        /// For words, most of which stand often.
        case search
    }

    /// The most insertions and deletions that Myers' search looks for in one box, since it costs their square.
    static let mostDifferences = 256

    private let base: ArraySlice<Int32>
    private let side: ArraySlice<Int32>
    private(set) var hunks: [TextHunk] = []

    /// Compares two slices; the hunks have the slices' own indices.
    init(
        _ base: ArraySlice<Int32>, _ side: ArraySlice<Int32>, first method: Method = .search,
        effort: inout TextBudget
    ) {
        self.base = base
        self.side = side
        var boxes = [TextHunk(base: base.indices, side: side.indices)]
        while var box = boxes.popLast() {
            box = box.trimmed(base, side, effort: &effort)
            if box.base.isEmpty || box.side.isEmpty {
                add(box)
                continue
            }
            if method == .search, let found = differences(box, effort: &effort) {
                for hunk in found { add(hunk) }
                continue
            }
            box.isCoarse = true
            if !effort.isSpent {
                let found = Self.anchors(box, base: base, side: side, effort: &effort)
                if !found.anchors.isEmpty {
                    boxes += Self.boxes(of: box, between: found.anchors).reversed()
                    continue
                }
                box.isCoarse = found.haveCommon
                if box.isCoarse, method == .anchors, let found = differences(box, effort: &effort) {
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

    /// Myers' greedy search, or nil when it would take more than `mostDifferences` or the effort is spent.
    private func differences(_ box: TextHunk, effort: inout TextBudget) -> [TextHunk]? {
        if effort.isSpent { return nil }
        let (n, m) = (box.base.count, box.side.count)
        let (baseStart, sideStart) = (box.base.lowerBound, box.side.lowerBound)
        let most = min(n + m, Self.mostDifferences)
        // furthest[d][k + d]: how far in the base the diagonal k gets with d differences.
        var furthest: [[Int]] = []
        for d in 0...most {
            var row = [Int](repeating: -1, count: 2 * d + 1)
            for k in stride(from: -d, through: d, by: 2) {
                var x = d == 0 ? 0 : Self.entry(furthest[d - 1], d: d - 1, k: k, in: box).x
                if x < 0 || x - k < 0 { continue }
                let from = x
                while x < n, x - k < m, base[baseStart + x] == side[sideStart + x - k] { x += 1 }
                effort.spend(x - from + 1)
                if effort.isSpent { return nil }
                row[k + d] = x
                if x == n, x - k == m { return path(box, furthest: furthest, d: d, k: k) }
            }
            furthest.append(row)
        }
        return nil
    }

    /// Where the diagonal k starts after one more difference: from above (an insertion) or from the left (a deletion).
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
