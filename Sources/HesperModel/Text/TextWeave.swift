/// Writes the merged text in the order of the base: the tokens of the base that are kept, and between them the insertions of
/// both sides (merge.md, Text, rules 3 to 6).
struct TextWeave {
    let plan: TextPlan
    private(set) var output: TextOutput
    /// The replacements in the older text that are not used because the newer text replaced the same words. `output` is the
    /// byte range of the newer replacement in the output.
    private(set) var contests: [(older: Range<Int>, output: Range<Int>)] = []

    init(plan: TextPlan) {
        self.plan = plan
        output = TextOutput(plan: plan)
        weave(0..<plan.base.count, line: nil, plan.hunks)
    }

    /// Writes a range of the base, and the insertions before, within and after it. The range is the whole base, or a moved
    /// line.
    private mutating func weave(
        _ range: Range<Int>, line: Int?, _ hunks: (older: [TextHunk], newer: [TextHunk])
    ) {
        let contests = plan.contests.filter { $0.movedLine == line }
        let rewrites = line == nil ? plan.rewrites : []
        var gaps = (hunks.older + hunks.newer).map(\.base.lowerBound) + rewrites.map(\.gap)
        gaps += contests.flatMap { [$0.base.lowerBound, $0.base.upperBound] }
        var done = range.lowerBound
        var (i, j, rewrite, contest) = (0, 0, 0, 0)
        var open: (contest: TextPlan.Contest, mark: Int)?
        for gap in Set(gaps).sorted() {
            keep(done..<gap, isMoved: line != nil)
            done = gap
            if let (contest, mark) = open, contest.base.upperBound == gap {
                self.contests.append((contest.older, output.range(from: mark)))
                open = nil
            }
            let (older, newer) = (Self.hunks(at: gap, hunks.older, &i), Self.hunks(at: gap, hunks.newer, &j))
            let isRewritten = rewrite < rewrites.count && rewrites[rewrite].gap == gap
            insert(
                older.inserted, newer.inserted, at: gap, in: line, above: isRewritten ? rewrites[rewrite] : nil)
            if isRewritten { rewrite += 1 }
            if contest < contests.count, contests[contest].base.lowerBound == gap {
                open = (contests[contest], output.mark())
                contest += 1
            }
            replace(older.replaced, newer.replaced, in: line)
        }
        keep(done..<range.upperBound, isMoved: line != nil)
        if let (contest, mark) = open { self.contests.append((contest.older, output.range(from: mark))) }
    }

    /// The hunks of one side at one gap, that is, at one place between two tokens of the base: those that insert text at the
    /// gap, and those that replace tokens after it.
    private static func hunks(
        at gap: Int, _ hunks: [TextHunk], _ next: inout Int
    ) -> (inserted: [TextHunk], replaced: [TextHunk]) {
        let start = next
        while next < hunks.count, hunks[next].base.lowerBound == gap { next += 1 }
        let here = hunks[start..<next]
        return (here.filter(\.base.isEmpty), here.filter { !$0.base.isEmpty })
    }

    /// Writes the insertions of both sides at one gap, that is, at one place between two tokens of the base.
    private mutating func insert(
        _ older: [TextHunk], _ newer: [TextHunk], at gap: Int, in line: Int?, above rewrite: TextPlan.Rewrite?
    ) {
        if let rewrite {
            let own = rewrite.source == .older ? older : newer
            for hunk in own { write(TextInsertion(hunk.side, of: rewrite.source, in: plan, movedLine: line)) }
            write(TextInsertion(rewrite.side, of: rewrite.source, in: plan, movedLine: line))
            output.endLine()
            let other: TextPlan.Source = rewrite.source == .older ? .newer : .older
            for hunk in rewrite.source == .older ? newer : older {
                write(TextInsertion(hunk.side, of: other, in: plan, movedLine: line))
            }
        } else if older.count == 1, newer.count == 1 {
            let textGap = TextGap(startsLine: plan.base.startsLine(gap), endsLine: plan.base.endsLine(gap))
            let one = TextInsertion(older[0].side, of: .older, in: plan, movedLine: line)
            for insertion in textGap.ordered(one, TextInsertion(newer[0].side, of: .newer, in: plan, movedLine: line)) {
                write(insertion)
            }
        } else {
            for hunk in older { write(TextInsertion(hunk.side, of: .older, in: plan, movedLine: line)) }
            for hunk in newer { write(TextInsertion(hunk.side, of: .newer, in: plan, movedLine: line)) }
        }
    }

    /// Writes the replacements for tokens of the base. If both sides have the same replacement, it is written once.
    private mutating func replace(_ older: [TextHunk], _ newer: [TextHunk], in line: Int?) {
        for hunk in older {
            let isEqual = newer.contains {
                $0.base == hunk.base && plan[.newer].bytes(of: $0.side) == plan[.older].bytes(of: hunk.side)
            }
            if !isEqual { write(TextInsertion(hunk.side, of: .older, in: plan, movedLine: line)) }
        }
        for hunk in newer { write(TextInsertion(hunk.side, of: .newer, in: plan, movedLine: line)) }
    }

    private mutating func write(_ insertion: TextInsertion) {
        for element in insertion.elements {
            if let line = element.movedLine {
                output.endLine()
                weave(plan.base.lines[line], line: line, plan.hunksOfMovedLines[line] ?? ([], []))
                output.endLine()
            } else {
                output.append(insertion.source, element.token)
            }
        }
    }

    /// Writes the kept tokens of a range of the base.
    private mutating func keep(_ range: Range<Int>, isMoved: Bool) {
        var token = range.lowerBound
        while token < range.upperBound {
            switch plan.outcomes[token] {
            case .deleted:
                output.skip(token)
                token += 1
            case .moved where !isMoved: token += 1
            case .moved, .kept:
                let start = token
                let outcome = plan.outcomes[token]
                while token < range.upperBound, plan.outcomes[token] == outcome { token += 1 }
                output.append(start..<token)
            }
        }
    }
}
