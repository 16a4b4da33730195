import Foundation

/// Finds the title of a note: the title in its front matter, or else the first line with words, without the marks of Markdown.
/// Follows `titleOf` in `Public/js/model/text.js`, so that links between imported notes use the titles that the web app shows.
package enum NoteTitle {
    /// The maximum length of a title, in characters.
    private static let length = 200
    /// The number of characters at the start of a text in which the title is searched for.
    private static let searched = 20_000

    /// The title of a text; empty if it has no words.
    package static func of(_ text: String) -> String {
        let front = FrontMatter(text)
        if let title = front?.title { return shortened(title) }
        let rest = front?.rest ?? text.prefix(searched)
        for line in rest.split(whereSeparator: \.isNewline) {
            let words = words(of: line)
            if !words.isEmpty { return shortened(words) }
        }
        return ""
    }

    /// Whether a link to a note with this title can be written as `[[title]]`.
    package static func isLinkable(_ title: String) -> Bool {
        (1...length).contains(title.count) && !title.contains { "[]|#".contains($0) || $0.isNewline }
            && !title.allSatisfy(\.isWhitespace)
    }

    /// Combines the title and the text of a note from an app that stores them separately. The title becomes the first line, as a
    /// heading, unless the text already begins with it.
    /// - Parameter mark: the characters to write before the title, such as a check box; nil for the mark of a heading.
    package static func text(title: String, body: String, mark: String? = nil) -> String {
        let title = title.split(whereSeparator: \.isNewline).joined(separator: " ").trimmingCharacters(in: .whitespaces)
        guard !title.isEmpty else { return body }
        let (first, same) = (of(body), shortened(words(of: title[...])))
        if mark == nil, first == title || (!same.isEmpty && first == same) { return body }
        let line = "\(mark ?? "#") \(title)"
        let rest = body.drop { $0.isNewline }
        return rest.isEmpty ? line : "\(line)\n\n\(rest)"
    }

    private static func shortened(_ line: String) -> String {
        guard line.count > length else { return line }
        return String(line.prefix(length)).trimmingCharacters(in: .whitespaces)
    }

    /// The words of a line, without the marks of Markdown.
    private static func words(of line: Substring) -> String {
        let line = line.drop(while: \.isWhitespace)
        if isRule(line) { return "" }
        let text = withoutLinks(AttachmentMark.removeAll(from: String(withoutBlockMarks(line.prefix(1_000)))))
        return withoutEmphasis(text).trimmingCharacters(in: .whitespaces)
    }

    /// Whether a line is a horizontal rule, a row of a table that contains no words, or the first or last line of a block of code.
    private static func isRule(_ line: Substring) -> Bool {
        if line.hasPrefix("```") || line.hasPrefix("~~~") { return !line.contains(" ") }
        return line.count >= 3 && line.allSatisfy { "-=_*|: \t".contains($0) }
    }

    /// Removes the marks of headings, lists, quotations and check boxes.
    private static func withoutBlockMarks(_ line: Substring) -> Substring {
        var line = line
        while true {
            line = line.drop(while: \.isWhitespace)
            guard let first = line.first else { return line }
            var rest = line
            if first == "#" {
                rest = line.drop { $0 == "#" }
            } else if "-+*>".contains(first) {
                rest = line.drop { "-+*>".contains($0) }
            } else if ["[ ]", "[x]", "[X]"].contains(line.prefix(3)) {
                rest = line.dropFirst(3)
            }
            guard rest.startIndex != line.startIndex, rest.first?.isWhitespace != false else { return line }
            line = rest
        }
    }

    /// Replaces links with their texts.
    private static func withoutLinks(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var (result, position): ([UInt8], Int) = ([], 0)
        for mention in LinkMention.all(in: bytes) where mention.range.lowerBound >= position {
            result += bytes[position..<mention.range.lowerBound]
            result += (mention.label ?? (mention.link.isWiki ? mention.address : "")).utf8
            position = mention.range.upperBound
        }
        return position == 0 ? text : String(decoding: result + bytes[position...], as: UTF8.self)
    }

    /// Removes the marks of emphasis and code, and backslashes before punctuation. Marks of one kind are kept if their number is
    /// odd.
    private static func withoutEmphasis(_ text: String) -> String {
        var text = text
        for mark in ["**", "~~", "__", "`", "*"] {
            let parts = text.components(separatedBy: mark)
            if parts.count > 2, parts.count % 2 == 1, !(mark == "*" && text.contains("\\*")) { text = parts.joined() }
        }
        if text.count > 2, text.hasPrefix("_"), text.hasSuffix("_") { text = String(text.dropFirst().dropLast()) }
        guard text.contains("\\") else { return text }
        var result = ""
        var isEscaped = false
        for character in text {
            if isEscaped || character != "\\" {
                if isEscaped, !character.isASCII || !(character.isPunctuation || character.isSymbol) { result += "\\" }
                result.append(character)
                isEscaped = false
            } else {
                isEscaped = true
            }
        }
        return isEscaped ? result + "\\" : result
    }
}
