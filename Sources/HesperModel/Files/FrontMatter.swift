import Foundation

/// The YAML front matter of a text, reduced to the values that the mirror and imports use. Front matter is only read, never
/// written.
package struct FrontMatter: Equatable {
    /// The value of the key `title`; nil if there is none.
    package private(set) var title: String?
    /// The names under the key `tags`, in order.
    package private(set) var tags: [String] = []
    /// The values of the key `aliases`: other names that links can use for the note.
    package private(set) var aliases: [String] = []
    /// The date on which the note was created, from the keys that apps use for it.
    package private(set) var created: Timestamp?
    /// The date on which the note was last changed.
    package private(set) var updated: Timestamp?
    /// The text after the front matter. It may be cut off, because only the beginning of a long text is read.
    package let rest: Substring
    /// The length of the front matter with the line that ends it, in bytes.
    package let length: Int

    /// Reads the front matter of a text; nil if it has none.
    package init?(_ text: String) {
        // Front matter is short. If the end of the front matter is not found near the beginning of the text, the text has no front
        // matter.
        let text = text.prefix(FrontMatter.limit)
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
        guard lines.first?.drop(while: { $0 == "\u{feff}" }) == "---" else { return nil }
        lines.removeFirst()
        guard let end = lines.firstIndex(where: { $0 == "---" || $0 == "..." }) else { return nil }
        let start = lines[end].endIndex < text.endIndex ? text.index(after: lines[end].endIndex) : text.endIndex
        rest = text[start...]
        length = text.utf8.distance(from: text.startIndex, to: start)
        read(lines[..<end])
    }

    private static let limit = 16_384
    private static let createdKeys: Set<String> = ["created", "created_at", "creation date", "date created", "date"]
    private static let updatedKeys: Set<String> = [
        "updated", "updated_at", "modified", "date modified", "last modified", "lastmod",
    ]

    private mutating func read(_ lines: ArraySlice<Substring>) {
        var list: WritableKeyPath<FrontMatter, [String]>?
        for line in lines {
            let content = FrontMatter.trimmed(line)
            if let list, content.hasPrefix("-") {
                add(content.dropFirst(), to: list)
                continue
            }
            // Blank lines and comments are skipped.
            guard !content.isEmpty, !content.hasPrefix("#") else { continue }
            list = nil
            if let value = FrontMatter.value(of: "title", line) {
                let text = FrontMatter.unquoted(value)
                if !text.isEmpty { title = text }
            } else if let value = FrontMatter.value(of: "tags", line) {
                list = addList(value, to: \.tags)
            } else if let value = FrontMatter.value(of: "aliases", line) {
                list = addList(value, to: \.aliases)
            } else {
                readDate(line)
            }
        }
    }

    /// Adds the names that follow the key `tags` or `aliases` on the same line.
    /// - Returns: `list` if this line has no names, so that the next lines are read as names; otherwise nil.
    private mutating func addList(
        _ value: String, to list: WritableKeyPath<FrontMatter, [String]>
    ) -> WritableKeyPath<FrontMatter, [String]>? {
        let names = value.hasPrefix("[") ? value.drop { $0 == "[" }.prefix { $0 != "]" } : value[...]
        for name in names.split(separator: ",") { add(name, to: list) }
        return value.isEmpty ? list : nil
    }

    private mutating func add(_ name: Substring, to list: WritableKeyPath<FrontMatter, [String]>) {
        var name = FrontMatter.unquoted(FrontMatter.trimmed(name))
        if list == \.tags, name.hasPrefix("#") { name.removeFirst() }
        if !name.isEmpty, !self[keyPath: list].contains(name) { self[keyPath: list].append(name) }
    }

    private mutating func readDate(_ line: Substring) {
        guard let colon = line.firstIndex(of: ":"), line.first?.isWhitespace == false else { return }
        let key = line[..<colon].lowercased()
        let value = FrontMatter.unquoted(FrontMatter.trimmed(line[line.index(after: colon)...]))
        if FrontMatter.createdKeys.contains(key) {
            created = created ?? Timestamp.loose(value)
        } else if FrontMatter.updatedKeys.contains(key) {
            updated = updated ?? Timestamp.loose(value)
        }
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

extension Timestamp {
    /// Parses a date as people and other apps write it: RFC 3339, or `2026-11-21` with an optional time. A time without an offset
    /// is in UTC.
    package static func loose(_ text: String) -> Timestamp? {
        var text = text.trimmingCharacters(in: .whitespaces)
        if text.count > 10, text.dropFirst(10).first == " " {
            text = "\(text.prefix(10))T\(text.dropFirst(11).drop { $0 == " " })"
        }
        if text.count == 10 { text += "T00:00:00" }
        // The seconds may be missing, as in `2026-11-21 08:47Z`.
        let time = text.prefix(16)
        if text.dropFirst(16).first != ":" { text = "\(time):00\(text.dropFirst(16))" }
        for form in [text, "\(text)Z"] {
            if let date = Timestamp(form) { return date }
        }
        return nil
    }
}
