/// Generates texts and edits as people make them, and some that occur only in files.
struct TextEditor {
    static let words = [
        "red", "blue", "green", "the", "a", "milk,", "eggs.", "Paris", "don't", "well-known", "3.14", "שלום", "עולם",
        "مرحبا",
        "caf\u{E9}", "cafe\u{301}", "naïve", "हिन्दी", "ไทย", "한국어", "カタカナ", "**bold**", "(so)", "—",
    ]
    static let solos = [
        "中", "文", "字", "ひ", "👍🏽", "👨‍👩‍👧", "❤️", "🇩🇪", "🇫🇷", "🇩", "e\u{301}\u{323}", "\u{301}", "\u{200D}", "1️⃣", "。", "🏳️‍🌈",
    ]
    static let gaps = [" ", " ", " ", " ", "  ", "\n", "\n", "\n\n", "\r\n", "\t", "\u{A0}", "\u{2028}", "\r", ""]

    var random: SeededGenerator

    mutating func word() -> String {
        switch random.number(0..<10) {
        case 0: random.one(of: Self.solos)
        case 1...5: "w\(random.number(0..<1000))"
        default: random.one(of: Self.words)
        }
    }

    mutating func text(words: Int) -> String {
        var text = ""
        for _ in 0..<words { text += word() + random.one(of: Self.gaps) }
        return text
    }

    /// Makes one to four edits at random grapheme boundaries: inserting, deleting, replacing, moving a line, duplicating it.
    mutating func edited(_ text: String) -> String {
        var text = Array(text)
        for _ in 0..<random.number(1..<5) {
            let start = random.number(0..<text.count + 1)
            let end = min(text.count, start + random.number(0..<12))
            switch random.number(0..<8) {
            case 0, 1: text.insert(contentsOf: word() + random.one(of: Self.gaps), at: start)
            case 2: text.insert(contentsOf: random.one(of: Self.gaps) + word(), at: start)
            case 3: text.removeSubrange(start..<end)
            case 4: text.replaceSubrange(start..<end, with: self.text(words: random.number(1..<4)))
            case 5: text += "\n" + self.text(words: random.number(1..<5))
            case 6:
                var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                let line = lines.remove(at: random.number(0..<lines.count))
                lines.insert(line, at: random.number(0..<lines.count + 1))
                text = Array(lines.joined(separator: ["\n"]))
            default:
                if !text.isEmpty { text.remove(at: min(start, text.count - 1)) }
            }
            // Deleting may join graphemes, as in an editor.
            text = Array(String(text))
        }
        return String(text)
    }
}
