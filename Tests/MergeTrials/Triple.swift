/// Three texts to merge.
struct Triple: Sendable, CustomStringConvertible {
    var base: String
    var older: String
    var newer: String

    var size: Int { base.utf8.count + older.utf8.count + newer.utf8.count }

    var description: String {
        [("base", base), ("older", older), ("newer", newer)].map { "    \($0)  \($1.debugDescription)" }
            .joined(separator: "\n")
    }
}

/// The features of random texts.
struct TextStyle: Sendable {
    /// Lines such as "---" occur more than once.
    var repeatsLines = false
    /// Words in many scripts, with emoji and combining marks.
    var hasScripts = false
    /// Lines are moved.
    var moves = false

    static let all = [false, true].flatMap { moves in
        [
            TextStyle(moves: moves), TextStyle(repeatsLines: true, moves: moves),
            TextStyle(repeatsLines: true, hasScripts: true, moves: moves),
        ]
    }

    /// Whether an alignment may be ambiguous.
    var isAmbiguous: Bool { repeatsLines || moves }

    var description: String {
        [(repeatsLines, "repeated lines"), (hasScripts, "scripts"), (moves, "moves")].filter(\.0).map(\.1)
            .joined(separator: ", ")
    }
}

/// Writes random texts and edits them. Every word is new: "w" and a number, sometimes with a suffix.
struct TrialEditor {
    private static let repeated = [
        "", "", "---", "- [ ] todo", "- item", "the end", "> q", "```", "| a | b |", "ok",
    ]
    private static let scripts = [
        "👩‍👩‍👧", "🏳️‍🌈", "é", "e\u{301}", "한글", "你好", "שלום", "مرحبا", "ไทย", "👍🏽", "🇨🇭", "न\u{947}", "ﬁ", "¼",
        "a\u{200D}b", "カタ", "ລາວ",
    ]

    var random: TrialRandom
    let style: TextStyle
    private var written = 0

    init(random: TrialRandom, style: TextStyle) {
        self.random = random
        self.style = style
    }

    mutating func word() -> String {
        written += 1
        return "w\(written)" + (style.hasScripts && random.happens(40) ? random.one(of: Self.scripts) : "")
    }

    mutating func words(_ count: ClosedRange<Int>) -> [String] { (0..<random.number(count)).map { _ in word() } }

    mutating func line() -> String {
        if style.repeatsLines, random.happens(45) { return random.one(of: Self.repeated) }
        let words = words(1...5).map { $0 + (random.happens(15) ? random.one(of: [".", ",", "!"]) : "") }
        return (random.happens(20) ? "- " : "") + words.joined(separator: " ")
    }

    mutating func lines(_ count: ClosedRange<Int>) -> [String] { (0..<random.number(count)).map { _ in line() } }

    /// A base and two edits of it.
    mutating func triple() -> Triple {
        let base = lines(0...6).map { $0.isEmpty && !style.repeatsLines ? word() : $0 }
        let (older, newer) = (edited(base), edited(base))
        let lineEnd = style.hasScripts ? random.one(of: ["\n", "\n", "\n", "\r\n", "\u{2028}"]) : "\n"
        let end = random.happens(50) ? lineEnd : ""
        func text(_ lines: [String]) -> String { lines.joined(separator: lineEnd) + (lines.isEmpty ? "" : end) }
        return Triple(base: text(base), older: text(older), newer: text(newer))
    }

    /// Applies one to three edits.
    private mutating func edited(_ lines: [String]) -> [String] {
        var lines = lines
        for _ in 0..<random.number(1...3) { edit(&lines) }
        return lines
    }

    private mutating func edit(_ lines: inout [String]) {
        if lines.isEmpty {
            lines = [line()]
            return
        }
        let index = random.number(below: lines.count)
        var words = lines[index].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        switch random.number(below: 100) {
        case 0..<25:
            words.insert(contentsOf: self.words(1...2), at: random.number(0...words.count))
            lines[index] = words.filter { !$0.isEmpty }.joined(separator: " ")
        case 25..<40: lines.insert(contentsOf: self.lines(1...2), at: index)
        case 40..<50: lines.append(line())
        case 50..<60:
            words[random.number(below: words.count)] = word()
            lines[index] = words.joined(separator: " ")
        case 60..<68: lines[index] = line()
        case 68..<76: lines.remove(at: index)
        case 76..<84 where words.count > 1:
            words.remove(at: random.number(below: words.count))
            lines[index] = words.joined(separator: " ")
        case 84..<88 where words.count > 1:
            let cut = random.number(1...(words.count - 1))
            lines[index] = words[cut...].joined(separator: " ")
            lines.insert(words[..<cut].joined(separator: " "), at: index)
        case 88..<91 where index + 1 < lines.count:
            lines[index] += lines[index].isEmpty || lines[index + 1].isEmpty ? "" : " "
            lines[index] += lines.remove(at: index + 1)
        case 91..<95 where style.moves:
            let line = lines.remove(at: index)
            lines.insert(line, at: random.number(0...lines.count))
        case 95..<97: lines.insert("", at: index)
        default:
            let end = min(lines.count, index + random.number(1...3))
            lines.replaceSubrange(index..<end, with: [line()])
        }
    }
}
