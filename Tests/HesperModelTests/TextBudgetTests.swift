import Testing

@testable import HesperModel

/// Texts of any size that are hard to align.
struct HardText: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Makes texts of about this number of bytes each.
    let make: @Sendable (inout SeededGenerator, Int) -> (base: String, older: String, newer: String)

    /// Appends to a text until it has the size.
    private static func filled(
        _ random: inout SeededGenerator, _ size: Int, _ next: (inout SeededGenerator, Int) -> String
    )
        -> String
    {
        var text = ""
        var count = 0
        while text.utf8.count < size - 64 {
            text += next(&random, count)
            count += 1
        }
        return text
    }

    private static func threeTimes(
        _ name: String, _ next: @escaping @Sendable (inout SeededGenerator, Int) -> String
    ) -> HardText {
        HardText(testDescription: name) { random, size in
            (filled(&random, size, next), filled(&random, size, next), filled(&random, size, next))
        }
    }

    static let repeatedWords = HardText(testDescription: "words that occur two or three times") { random, size in
        func text() -> String { filled(&random, size) { random, _ in "\(random.number(0..<size / 13)) " } }
        return (text(), text(), text())
    }

    static let all: [HardText] = [
        threeTimes("two words in any order, one line") { random, _ in random.one(of: ["a ", "b "]) },
        threeTimes("two lines in any order") { random, _ in random.one(of: ["a\n", "b\n"]) },
        repeatedWords,
        threeTimes("nothing in common") { random, _ in "\(random.next())\n" },
        threeTimes("emoji families") { random, _ in random.one(of: ["👨‍👩‍👧", "👩🏽‍🚀", "🇩🇪"]) },
        HardText(testDescription: "lines in reverse") { random, size in
            let lines = (0..<size / 10).map { "\($0)\n" }
            return (lines.joined(), lines.reversed().joined(), lines.shuffled(using: &random).joined())
        },
        HardText(testDescription: "one line repeated, a different number of times in each text") { _, size in
            let lines = String(repeating: "the same\n", count: size / 9)
            return (
                lines, "x\n" + lines.dropLast(size / 58), lines.dropFirst(size / 12) + "y\n" + lines.dropLast(size / 3)
            )
        },
        HardText(testDescription: "one word") { _, size in
            let word = String(repeating: "x", count: size - 2)
            return (word, word + "a", "b" + word)
        },
        HardText(testDescription: "nested pairs, so that each split finds only one anchor") { _, size in
            func nested(_ odd: Int) -> String {
                let half = (0..<size / 15).map { $0 % 2 == odd ? "\($0) " : "\($0 / 2) x " }
                return half.joined() + half.reversed().joined()
            }
            return (nested(0), nested(1), nested(0) + "end")
        },
    ]
}

@Suite("The work of a merge is bounded by the size of its texts")
struct TextBudgetTests {
    /// The bound is on counted steps rather than seconds, so a smaller text shows it as well.
    @Test("64 KiB of text that is hard to align", arguments: HardText.all)
    func bounded(hard: HardText) throws { try check(hard, size: 1 << 16) }

    @Test("1 MiB, the maximum length of a text", .enabled(if: isEverything))
    func longest() throws { try check(.repeatedWords, size: Limits.textBytes) }

    private func check(_ hard: HardText, size: Int) throws {
        var random = SeededGenerator(seed: 7)
        let (base, older, newer) = hard.make(&random, size)
        for text in [base, older, newer] { #expect(text.utf8.count > size / 3) }
        var budget: TextBudget?
        let merged = TextMerge.merge(base: base, older: older, newer: newer, budget: &budget)
        let spent = try #require(budget)
        let tokens = (spent.limit - 65_536) / 32
        #expect(tokens <= base.utf8.count + older.utf8.count + newer.utf8.count)
        #expect(spent.steps <= 64 * tokens + 65_536)
        // A longer result would contain something twice.
        #expect(merged.utf8.count <= older.utf8.count + newer.utf8.count + 2)
        #expect(!merged.isEmpty)
    }

    @Test("A coarse alignment keeps the changes at both ends, and the newer text where both changed")
    func coarse() {
        var random = SeededGenerator(seed: 11)
        func middle() -> String { (0..<20_000).map { _ in random.one(of: ["a ", "b "]) }.joined() }
        let (base, older, newer) = (middle(), middle(), middle())
        let merged = TextMerge.merge(
            base: "start\n\(base)\nend\n", older: "START\n\(older)\nend\n", newer: "start\n\(newer)\nEND\n")
        #expect(merged.hasPrefix("START\n"))
        #expect(merged.hasSuffix("\nEND\n"))
    }

    @Test("A few edits in a long text do not exhaust the budget")
    func small() throws {
        let base = (0..<20_000).map { "line \($0) of some length\n" }.joined()
        let older = base.replacing("line 77 ", with: "LINE 77 ").replacing("line 15000 ", with: "LINE 15000 ")
        let newer = base.replacing("line 77 of some", with: "line 77 of any") + "and one more\n"
        var budget: TextBudget?
        let merged = TextMerge.merge(base: base, older: older, newer: newer, budget: &budget)
        #expect(merged.contains("LINE 77 of any length\n") && merged.contains("LINE 15000 of"))
        #expect(merged.hasSuffix("of some length\nand one more\n"))
        let spent = try #require(budget)
        #expect(spent.steps < 2 * base.utf8.count)
        #expect(!spent.isSpent)
    }
}
