/// Converts the subset of Markdown that descriptions in the contract use: paragraphs, headings, lists and indented code, and
/// `code`, **strong** and *emphasis* within a line.
enum Markdown {
    /// Converts text to HTML.
    /// - Parameter level: the level of the HTML heading for a line that begins with a single `#`.
    static func html(_ text: String, level: Int = 2) -> String {
        var html = ""
        var paragraph: [Substring] = []
        var items: [String] = []
        var code: [Substring] = []

        func endParagraph() {
            if !paragraph.isEmpty { html += "<p>\(inline(paragraph.joined(separator: " ")))</p>\n" }
            paragraph = []
        }
        func endList() {
            if !items.isEmpty { html += "<ul>\(items.map { "<li>\(inline($0))</li>" }.joined())</ul>\n" }
            items = []
        }
        func endCode() {
            if !code.isEmpty { html += "<pre><code>\(HTMLPage.escape(code.joined(separator: "\n")))</code></pre>\n" }
            code = []
        }

        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let content = line.trimmed
            if content.isEmpty {
                endParagraph()
                endList()
                endCode()
            } else if line.hasPrefix("    "), paragraph.isEmpty, items.isEmpty {
                code.append(line.dropFirst(4))
            } else if content.hasPrefix("#") {
                endParagraph()
                let depth = content.prefix { $0 == "#" }.count + level - 1
                html += "<h\(depth)>\(inline(String(content.drop { $0 == "#" }.trimmed)))</h\(depth)>\n"
            } else if content.hasPrefix("* ") || content.hasPrefix("- ") {
                endParagraph()
                items.append(String(content.dropFirst(2)))
            } else if !items.isEmpty {
                items[items.count - 1] += " " + content
            } else {
                paragraph.append(content)
            }
        }
        endParagraph()
        endList()
        endCode()
        return html
    }

    /// Converts the text of one paragraph, heading or list item. Text between backquotes becomes code; in the rest of the text,
    /// `**` marks strong text, and `*` marks emphasis.
    static func inline(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            // A part with an odd index follows an opening backquote, so it is code. If the last part has an odd index, its closing
            // backquote is missing, so it is not code.
            if index % 2 == 1, index < parts.count - 1 || parts.count % 2 == 1 {
                return "<code>\(HTMLPage.escape(part))</code>"
            }
            return marked(marked(HTMLPage.escape(part), "**", "strong"), "*", "em")
        }.joined()
    }

    private static func marked(_ text: String, _ mark: String, _ element: String) -> String {
        let parts = text.split(separator: mark, omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return text }
        return parts.enumerated().map { $0 % 2 == 1 ? "<\(element)>\($1)</\(element)>" : String($1) }.joined()
    }
}
