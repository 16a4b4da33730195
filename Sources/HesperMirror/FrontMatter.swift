import Foundation

/// The YAML front matter of a text, as far as the mirror reads it: `title` and `tags`. It is never written.
struct FrontMatter: Equatable {
    /// The value of the key `title`; nil if there is none.
    private(set) var title: String?
    /// The names under the key `tags`, in order.
    private(set) var tags: [String] = []
    /// The text after the front matter. It may be cut off, because only the beginning of a long text is read.
    let rest: Substring

    /// Reads the front matter of a text; nil if it has none.
    init?(_ text: String) {
        // Front matter is short. A longer text between the marks is not front matter.
        let text = text.prefix(FrontMatter.limit)
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
        guard lines.first?.drop(while: { $0 == "\u{feff}" }) == "---" else { return nil }
        lines.removeFirst()
        guard let end = lines.firstIndex(where: { $0 == "---" || $0 == "..." }) else { return nil }
        rest = lines[end].endIndex < text.endIndex ? text[text.index(after: lines[end].endIndex)...] : ""
        read(lines[..<end])
    }

    private static let limit = 16_384

    private mutating func read(_ lines: ArraySlice<Substring>) {
        var isInTags = false
        for line in lines {
            let content = FrontMatter.trimmed(line)
            if isInTags, content.hasPrefix("-") {
                add(content.dropFirst())
                continue
            }
            // Blank lines and comments are skipped.
            guard !content.isEmpty, !content.hasPrefix("#") else { continue }
            isInTags = false
            if let value = FrontMatter.value(of: "title", line) {
                let text = FrontMatter.unquoted(value)
                if !text.isEmpty { title = text }
            } else if let value = FrontMatter.value(of: "tags", line) {
                isInTags = value.isEmpty
                let list = value.hasPrefix("[") ? value.drop { $0 == "[" }.prefix { $0 != "]" } : value[...]
                for name in list.split(separator: ",") { add(name) }
            }
        }
    }

    private mutating func add(_ name: Substring) {
        var name = FrontMatter.unquoted(FrontMatter.trimmed(name))
        if name.hasPrefix("#") { name.removeFirst() }
        if !name.isEmpty, !tags.contains(name) { tags.append(name) }
    }

    /// The value of a key, if a line begins with the key; otherwise nil.
    private static func value(of key: String, _ line: Substring) -> String? {
        guard line.hasPrefix(key + ":") else { return nil }
        let value = line.dropFirst(key.count + 1)
        guard value.isEmpty || value.first?.isWhitespace == true else { return nil }
        return trimmed(value)
    }

    private static func trimmed(_ text: Substring) -> String { text.trimmingCharacters(in: .whitespaces) }

    private static func unquoted(_ text: String) -> String {
        for quote in ["\"", "'"] where text.count >= 2 && text.hasPrefix(quote) && text.hasSuffix(quote) {
            return String(text.dropFirst().dropLast())
        }
        return text
    }
}
