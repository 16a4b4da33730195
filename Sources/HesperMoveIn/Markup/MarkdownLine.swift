import Foundation

/// A part of a line whose characters all have the same style.
struct MarkdownRun {
    struct Style: Equatable {
        var isBold = false
        var isItalic = false
        var isStruck = false
        var isCode = false
        var address = ""
    }

    var text: String
    var style: Style
    /// Whether the text is already Markdown, and is written without escapes.
    var isRaw = false
}

/// Writes one line as Markdown. Puts marks around text that has a style, and backslashes before characters that would otherwise
/// have a meaning in Markdown.
struct MarkdownLine {
    private let runs: [MarkdownRun]
    private let hasStars: Bool
    private let hasTicks: Bool
    private let hasUnderlines: Bool
    private let hasTildes: Bool

    init(_ runs: [MarkdownRun]) {
        self.runs = runs
        let text = runs.filter { !$0.isRaw && !$0.style.isCode }.map(\.text).joined()
        func count(_ character: Character) -> Int { text.count { $0 == character } }
        hasStars = count("*") + (runs.contains { $0.style.isBold || $0.style.isItalic } ? 2 : 0) > 1
        hasTicks = count("`") + (runs.contains { $0.style.isCode } ? 2 : 0) > 1
        hasUnderlines = count("_") > 1
        hasTildes = count("~") + (runs.contains { $0.style.isStruck } ? 4 : 0) > 3
    }

    var text: String {
        let text = render(runs[...], level: 0)
        guard let first = runs.first, !first.isRaw, first.style == MarkdownRun.Style() else { return text }
        return MarkdownLine.withEscapedStart(text)
    }

    private func render(_ runs: ArraySlice<MarkdownRun>, level: Int) -> String {
        var result = ""
        var rest = runs
        while let first = rest.first {
            let key = MarkdownLine.key(first, level)
            let group = rest.prefix { MarkdownLine.key($0, level) == key }
            rest = rest.dropFirst(group.count)
            if level == 5 {
                result += group.map { $0.isRaw ? $0.text : escaped($0.text, after: result) }.joined()
            } else if key.isEmpty {
                result += render(group, level: level + 1)
            } else if level == 4 {
                result += MarkdownLine.code(group.map(\.text).joined())
            } else if level == 0 {
                result += link(group, key)
            } else {
                result +=
                    group.allSatisfy(\.isRaw)
                    ? render(group, level: level + 1) : MarkdownLine.wrapped(render(group, level: level + 1), key)
            }
        }
        return result
    }

    /// The Markdown for one style of a run. Level 0 yields the address of the link, and levels 1 to 4 yield the marks for bold,
    /// italic, struck-out text and code. Empty if the run does not have the style of this level.
    private static func key(_ run: MarkdownRun, _ level: Int) -> String {
        switch level {
        case 0: run.style.address
        case 1: run.style.isBold ? "**" : ""
        case 2: run.style.isItalic ? "*" : ""
        case 3: run.style.isStruck ? "~~" : ""
        case 4: run.style.isCode && !run.isRaw ? "`" : ""
        default: ""
        }
    }

    private func link(_ runs: ArraySlice<MarkdownRun>, _ address: String) -> String {
        let inner = render(runs, level: 1)
        let words = runs.map(\.text).joined().trimmingCharacters(in: .whitespaces)
        guard !words.isEmpty else { return inner }
        if words == address || words == address.replacing("mailto:", with: "") { return inner }
        return MarkdownLine.aroundWords(inner) { "[\($0)](\(address))" }
    }

    private static func wrapped(_ text: String, _ mark: String) -> String {
        aroundWords(text) { "\(mark)\($0)\(mark)" }
    }

    /// Puts marks around a text. Spaces at the ends of the text stay outside of the marks, because Markdown does not recognize
    /// marks that have a space on their inner side.
    private static func aroundWords(_ text: String, _ wrap: (String) -> String) -> String {
        let lead = text.prefix { $0 == " " }
        let rest = text.dropFirst(lead.count)
        guard let last = rest.lastIndex(where: { $0 != " " }) else { return text }
        return lead + wrap(String(rest[...last])) + rest[rest.index(after: last)...]
    }

    private static func code(_ text: String) -> String {
        aroundWords(text) { text in
            var (longest, run) = (0, 0)
            for character in text {
                run = character == "`" ? run + 1 : 0
                longest = max(longest, run)
            }
            let ticks = String(repeating: "`", count: longest + 1)
            let space = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
            return ticks + space + text + space + ticks
        }
    }

    // MARK: Escapes

    private func escaped(_ text: String, after before: String) -> String {
        // Words that contain an address of a web page are not escaped.
        if text.contains("://") {
            return text.split(separator: " ", omittingEmptySubsequences: false)
                .map { $0.contains("://") ? String($0) : escape(Array($0), before: " ") }.joined(separator: " ")
        }
        return escape(Array(text), before: before.last ?? " ")
    }

    private func escape(_ characters: [Character], before: Character) -> String {
        var result = ""
        for (index, character) in characters.enumerated() {
            let previous = index > 0 ? characters[index - 1] : before
            let next = index + 1 < characters.count ? characters[index + 1] : " "
            if isMarkup(character, previous, next, characters[index...]) { result.append("\\") }
            result.append(character)
        }
        return result
    }

    private func isMarkup(
        _ character: Character, _ previous: Character, _ next: Character, _ rest: ArraySlice<Character>
    ) -> Bool {
        switch character {
        case "\\": next.isASCII && (next.isPunctuation || next.isSymbol)
        case "`": hasTicks
        case "*": hasStars && !(previous == " " && next == " ")
        case "_": hasUnderlines && !(previous.isLetter || previous.isNumber) != !(next.isLetter || next.isNumber)
        case "~": hasTildes && (previous == "~" || next == "~")
        case "<": next.isLetter || next == "/" || next == "!"
        case "[": next == "[" || previous == "[" || MarkdownLine.isLink(rest.prefix(1_000))
        default: false
        }
    }

    private static func isLink(_ characters: ArraySlice<Character>) -> Bool {
        guard let end = characters.firstIndex(of: "]"), end + 1 < characters.endIndex else { return false }
        return characters[end + 1] == "("
    }

    /// Escapes the beginning of a line if Markdown would interpret the line as a heading, a list item, a horizontal rule or a
    /// quotation.
    private static func withEscapedStart(_ line: String) -> String {
        guard let first = line.first else { return line }
        let isAlone = { (rest: Substring) in rest.first.map { $0 == " " } ?? true }
        switch first {
        case "#": return isAlone(line.drop { $0 == "#" }) ? "\\" + line : line
        case "-", "+", "*": return isAlone(line.dropFirst()) || line.allSatisfy { $0 == first } ? "\\" + line : line
        case ">": return "\\" + line
        case _ where first.isASCII && first.isNumber:
            let digits = line.prefix { $0.isASCII && $0.isNumber }
            let rest = line.dropFirst(digits.count)
            guard let mark = rest.first, ".)".contains(mark), isAlone(rest.dropFirst()) else { return line }
            return "\(digits)\\\(rest)"
        default: return line
        }
    }
}
