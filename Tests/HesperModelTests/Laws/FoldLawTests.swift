import Testing

@testable import HesperModel

/// merge.md, The fold: merging is the union of bags, so it is commutative, associative and idempotent.
@Suite("Laws: the fold")
struct FoldLawTests {
    /// Bags in each of the runs, which go in parallel.
    static let count = 2_600

    @Test("Any order, repetition or partition of a bag folds to the same objects and digest", arguments: 1...4)
    func bags(run: Int) {
        var random = SeededGenerator(for: "bags \(run)")
        var differ = 0
        for number in 0..<FoldLawTests.count {
            let bag = RandomBag(using: &random)
            let fold = Refold(bag.items)
            let shuffled = Refold(bag.items.shuffled(using: &random))
            let repeated = Refold(
                (bag.items + bag.items.filter { _ in Bool.random(using: &random) }).shuffled(using: &random))
            let half = bag.items.map { ($0, Bool.random(using: &random)) }
            var parts = Refold(half.filter(\.1).map(\.0))
            parts.add(Refold(half.filter { !$0.1 }.map(\.0)))
            for (what, other) in [("shuffled", shuffled), ("repeated", repeated), ("partitioned", parts)]
            where !fold.isSame(as: other) {
                Issue.record("bag \(number) of run \(run), seed \(random.seed), \(what)")
                differ += 1
            }
            guard differ < 5 else { return }
        }
    }
}

extension Refold {
    /// The same objects to the byte, the same DeletedObjects, the same digest.
    func isSame(as other: Refold) -> Bool {
        // Of an object that waits, a page says nothing of what is not known yet.
        entities.mapValues(\.json) == other.entities.mapValues(\.json) && deleted == other.deleted
            && digest == other.digest
    }
}
