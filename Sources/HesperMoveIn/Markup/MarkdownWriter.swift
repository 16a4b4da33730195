import HesperModel

/// Writes lines of Markdown, in lists and quotations.
struct MarkdownWriter {
    private(set) var lines: [String] = []
    /// The list items and quotations that contain the next line, the outermost first. Each has a prefix for its first line and a
    /// prefix for its other lines.
    private var parts: [Part] = []
    /// The number of ``parts``, counted from the outermost, that contain both the last written line and the next line.
    private var common = 0
    /// The minimum number of line breaks before the next line.
    private var gap = 0
    private var byteCount = 0

    private struct Part {
        let first: String
        let rest: String
        let isItem: Bool
        var isUsed = false
    }

    /// The maximum number of nested lists and quotations. Deeper ones are not indented further.
    private static let maximumNesting = 10
    /// The maximum size of the Markdown, in bytes. Further lines are left out, because the text is then too large for a note.
    static let maximumBytes = 2 * Limits.textBytes

    var isTooLarge: Bool { byteCount > MarkdownWriter.maximumBytes }
    var text: String { lines.joined(separator: "\n") }
    /// Whether the next line is the first line of a list item.
    var isAtItem: Bool { parts.last.map { $0.isItem && !$0.isUsed } ?? false }
    var isInPart: Bool { !parts.isEmpty }

    /// Writes a line.
    /// - Parameters:
    ///   - before: the minimum number of line breaks before the line. Two line breaks result in an empty line.
    ///   - after: the minimum number of line breaks after the line.
    mutating func put(_ text: String, before: Int = 1, after: Int = 1) {
        if !lines.isEmpty, max(before, gap) > 1 {
            add(parts.prefix(common).map(\.rest).joined())
        }
        let start = parts.map { $0.isUsed ? $0.rest : $0.first }.joined()
        for index in parts.indices { parts[index].isUsed = true }
        add(start + text)
        gap = after
        common = parts.count
    }

    /// Ensures that an empty line precedes the next line.
    mutating func separate() { gap = max(gap, 2) }

    private mutating func add(_ line: String) {
        byteCount += line.utf8.count + 1
        guard !isTooLarge else { return }
        var line = line[...]
        while line.last == " " || line.last == "\t" { line.removeLast() }
        lines.append(String(line))
    }

    mutating func begin(first: String, rest: String, isItem: Bool) {
        let isTooDeep = parts.count >= MarkdownWriter.maximumNesting
        parts.append(Part(first: isTooDeep && !isItem ? "" : first, rest: isTooDeep ? "" : rest, isItem: isItem))
    }

    mutating func end() {
        parts.removeLast()
        common = min(common, parts.count)
    }
}
