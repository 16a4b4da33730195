extension TextDiff {
    /// A token or line that occurs exactly once in the base and exactly once in the side, with its positions in both. Tokens and
    /// lines are compared by their numbers (``TextNumbers``).
    struct Anchor {
        let base: Int
        let side: Int
    }

    /// Finds the anchors in a box, that is, in a range of the base and a range of the side. If the order of the anchors differs
    /// between the two texts, returns the longest list of anchors whose order is the same in both: a longest increasing
    /// subsequence. Also returns whether the two ranges have any token or line in common.
    static func anchors(
        _ box: TextHunk, base: ArraySlice<Int32>, side: ArraySlice<Int32>, budget: inout TextBudget
    ) -> (anchors: [Anchor], haveCommon: Bool) {
        struct Positions {
            var base = -1
            var side = -1
            var isOnce = true
        }
        budget.spend(2 * (box.base.count + box.side.count))
        var positions: [Int32: Positions] = [:]
        positions.reserveCapacity(box.base.count)
        for index in box.base {
            if positions[base[index], default: Positions()].base >= 0 { positions[base[index]]?.isOnce = false }
            positions[base[index], default: Positions()].base = index
        }
        for index in box.side {
            guard let position = positions[side[index]] else { continue }
            if position.side >= 0 { positions[side[index]]?.isOnce = false }
            positions[side[index]]?.side = index
        }

        // piles[n] is the last anchor of a list of n + 1 anchors that have the same order in both texts. If there are several such
        // lists, the list whose last anchor is earliest in the side is used.
        var piles: [Int] = []
        var common: [Anchor] = []
        var before: [Int] = []
        for index in box.base {
            guard let position = positions[base[index]], position.isOnce, position.side >= 0 else { continue }
            var (low, high) = (0, piles.count)
            while low < high {
                budget.spend(1)
                let middle = (low + high) / 2
                if common[piles[middle]].side < position.side { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? piles[low - 1] : -1)
            common.append(Anchor(base: index, side: position.side))
            if low == piles.count { piles.append(common.count - 1) } else { piles[low] = common.count - 1 }
        }
        var anchors: [Anchor] = []
        var next = piles.last ?? -1
        while next >= 0 {
            anchors.append(common[next])
            next = before[next]
        }
        return (anchors.reversed(), positions.values.contains { $0.side >= 0 })
    }

    /// The parts of a box (a range of the base and a range of the side) before, between and after its anchors.
    static func boxes(of box: TextHunk, between anchors: [Anchor]) -> [TextHunk] {
        var boxes: [TextHunk] = []
        var (start, sideStart) = (box.base.lowerBound, box.side.lowerBound)
        for anchor in anchors {
            boxes.append(TextHunk(base: start..<anchor.base, side: sideStart..<anchor.side))
            (start, sideStart) = (anchor.base + 1, anchor.side + 1)
        }
        boxes.append(TextHunk(base: start..<box.base.upperBound, side: sideStart..<box.side.upperBound))
        return boxes
    }
}
