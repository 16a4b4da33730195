import Testing

@testable import HesperModel

/// Merges that once lost, duplicated or joined words (docs/decisions/0014).
@Suite("Merging texts: reported cases")
struct TextMergeRowTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let base: String
        let one: String
        let other: String
        /// The results with `one` as the older text, and with `other` as the older text.
        let merged: [String]
        var testDescription: String { name }

        init(_ name: String, _ base: String, _ one: String, _ other: String, _ merged: String...) {
            (self.name, self.base, self.one, self.other, self.merged) = (name, base, one, other, merged)
        }
    }

    static let rows = [
        Row(
            "1: each side checks the same task of another day",
            "Mon\n- [ ] water the plants\nTue\n- [ ] water the plants",
            "Mon\n- [x] water the plants\nTue\n- [ ] water the plants",
            "Mon\n- [ ] water the plants\nTue\n- [x] water the plants",
            "Mon\n- [x] water the plants\nTue\n- [x] water the plants"),
        Row(
            "2: each side adds the same line under another heading",
            "Lunch\n\nDinner\n", "Lunch\nbread and butter\n\nDinner\n", "Lunch\n\nDinner\nbread and butter\n",
            "Lunch\nbread and butter\n\nDinner\nbread and butter\n"),
        Row(
            "3: a line inserted between lines that the other side rewrites",
            "Buy milk today\nCall the plumber\nPay the rent",
            "Buy milk today\nAsk Tom about bread\nCall the plumber\nPay the rent",
            "Groceries are done already\nPay the rent",
            "Groceries are done already\nAsk Tom about bread\nPay the rent"),
        Row(
            "4: words inserted around a blank line that the other side fills",
            "a b\n\nc d", "a b X\n\nY\nZ c d", "a b\nN\nc d", "a b X\nN\nY\nZ c d"),
        Row(
            "12: both move one line to different places and change it: once, at the newer place, with both changes",
            "water the plants daily\nMon\nTue\nWed\n", "Mon\nwater all the plants daily\nTue\nWed\n",
            "Mon\nTue\nwater the plants twice daily\nWed\n", "Mon\nTue\nwater all the plants twice daily\nWed\n",
            "Mon\nwater all the plants twice daily\nTue\nWed\n"),
        Row(
            "12: both move a line, one changes it as well",
            "water the plants\nMon\nTue\nWed\n", "Mon\nwater the plants\nTue\nWed\n",
            "Mon\nTue\nwater the green plants\nWed\n", "Mon\nTue\nwater the green plants\nWed\n",
            "Mon\nwater the green plants\nTue\nWed\n"),
        Row(
            "both replace the last word of a moved line, one also its line break",
            "a\nb\nc\r", "c\na\nb\n\n", "c\r\n", "c\n\r\n", "c\n\n"),
    ]

    @Test("The texts merge as expected", arguments: rows)
    func merges(row: Row) throws {
        #expect(TextMerge.merge(base: row.base, older: row.one, newer: row.other) == row.merged.first)
        #expect(TextMerge.merge(base: row.base, older: row.other, newer: row.one) == row.merged.last)
    }

    @Test("Superseded words are listed with their location")
    func superseded() {
        let outcome = TextMerge.outcome(base: "🎉 a red car\n", older: "🎉 a blue car\n", newer: "so 🎉 a green car\n")
        #expect(outcome.text == "so 🎉 a green car\n")
        #expect(outcome.superseded == [TextMerge.Superseded(text: "blue", location: 8, length: 5)])
    }

    @Test("Punctuation, and words that the newer text contains, are not listed as superseded")
    func notLost() {
        #expect(TextMerge.outcome(base: "a b. c", older: "a b! c", newer: "a b? c").superseded == [])
        #expect(TextMerge.outcome(base: "a red car", older: "a blue car", newer: "a dark blue car").superseded == [])
    }
}
