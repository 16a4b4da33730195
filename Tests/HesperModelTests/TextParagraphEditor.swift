/// Prose in paragraphs, and what people do to it: words changed, blank lines put in and taken out, paragraphs split,
/// joined, written and deleted.
struct TextParagraphEditor<Random: RandomNumberGenerator> {
    var random: Random
    private var written = 0

    init(random: Random) { self.random = random }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Some words are everywhere, as in any language; others are written once.
    private mutating func word() -> String {
        if number(0..<3) == 0 { return ["the", "of", "a", "and", "to"][number(0..<5)] }
        written += 1
        return "word\(written)"
    }

    private mutating func paragraph() -> [String] { (0..<number(12..<30)).map { _ in word() } }

    /// A blank line, or now and then a rule.
    private mutating func divider() -> [String] { number(0..<8) == 0 ? ["---"] : [] }

    /// Lines of words: two to seven paragraphs, most with blank lines between them.
    mutating func lines() -> [[String]] {
        var lines: [[String]] = []
        for _ in 0..<number(2..<8) {
            lines.append(paragraph())
            for _ in 0..<[0, 1, 1, 1, 2][number(0..<5)] { lines.append(divider()) }
        }
        return lines
    }

    /// One to eight edits: each of a word or of a blank line, sometimes of a whole paragraph.
    mutating func edited(_ lines: [[String]]) -> [[String]] {
        var lines = lines
        for _ in 0..<number(1..<9) {
            let line = number(0..<lines.count)
            switch number(0..<16) {
            case 0..<4: lines.insert(divider(), at: number(0..<lines.count + 1))
            case 4..<7:
                let blank = lines.indices.filter { lines[$0].count < 2 }
                if !blank.isEmpty, lines.count > 1 { lines.remove(at: blank[number(0..<blank.count)]) }
            case 7: lines.insert(paragraph(), at: line)
            case 8: lines[line] = paragraph()
            case 9: if lines.count > 1 { lines.remove(at: line) }
            case 10 where lines[line].count > 1:
                let cut = number(1..<lines[line].count)
                lines.insert(Array(lines[line][cut...]), at: line + 1)
                lines[line].removeSubrange(cut...)
            case 11 where line + 1 < lines.count: lines[line] += lines.remove(at: line + 1)
            default:
                guard lines[line].count > 1 else { continue }
                lines[line][number(0..<lines[line].count)] = word()
            }
        }
        return lines
    }
}

extension [[String]] {
    /// Lines of words as one text.
    var text: String { map { $0.joined(separator: " ") + "\n" }.joined() }
}
