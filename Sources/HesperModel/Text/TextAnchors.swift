extension TextDiff {
    /// A number that stands once in the base and once in the side.
    struct Anchor {
        let base: Int
        let side: Int
    }

    /// The longest list of anchors in a box that have the same order in both texts, found by patience sorting; and
    /// whether the texts have any number in common there.
    static func anchors(
        _ box: TextHunk, base: ArraySlice<Int32>, side: ArraySlice<Int32>, effort: inout TextBudget
    ) -> (anchors: [Anchor], haveCommon: Bool) {
        struct Places {
            var base = -1
            var side = -1
            var isOnce = true
        }
        effort.spend(2 * (box.base.count + box.side.count))
        var places: [Int32: Places] = [:]
        places.reserveCapacity(box.base.count)
        for index in box.base {
            if places[base[index], default: Places()].base >= 0 { places[base[index]]?.isOnce = false }
            places[base[index], default: Places()].base = index
        }
        for index in box.side {
            guard let place = places[side[index]] else { continue }
            if place.side >= 0 { places[side[index]]?.isOnce = false }
            places[side[index]]?.side = index
        }

        // piles[n]: of all runs of n + 1 anchors, the one that ends earliest in the side.
        var piles: [Int] = []
        var common: [Anchor] = []
        var before: [Int] = []
        for index in box.base {
            guard let place = places[base[index]], place.isOnce, place.side >= 0 else { continue }
            var (low, high) = (0, piles.count)
            while low < high {
                effort.spend(1)
                let middle = (low + high) / 2
                if common[piles[middle]].side < place.side { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? piles[low - 1] : -1)
            common.append(Anchor(base: index, side: place.side))
            if low == piles.count { piles.append(common.count - 1) } else { piles[low] = common.count - 1 }
        }
        var anchors: [Anchor] = []
        var next = piles.last ?? -1
        while next >= 0 {
            anchors.append(common[next])
            next = before[next]
        }
        return (anchors.reversed(), places.values.contains { $0.side >= 0 })
    }

    /// What is left of a box before, between and after its anchors.
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
