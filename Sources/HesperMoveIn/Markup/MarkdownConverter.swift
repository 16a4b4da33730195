import Foundation

/// Converts HTML, or the ENML of Evernote, to Markdown while the document is parsed.
final class MarkdownConverter: MarkupHandler {
    /// The scheme of the addresses by which a converted text refers to the files of its note. After the scheme, an address contains
    /// the MD5 hash of the file.
    static let resourceScheme = "evernote-resource:"

    /// The tasks of an Evernote note as lines of Markdown, by the ID of their task group. A group is removed from here when its
    /// tasks have been written into the text.
    private(set) var tasks: [String: [String]]
    /// The title in the head of the document.
    private(set) var title = ""
    /// The number of encrypted passages, which are left out.
    private(set) var encryptedCount = 0
    /// Stores a picture that the document contains as a data URL. Returns the address by which the text refers to the picture; nil
    /// if the picture is left out.
    private let storeData: (String) -> String?

    private var writer = MarkdownWriter()
    /// The text of the current line or paragraph that has been read so far.
    private var runs: [MarkdownRun] = []
    private var style = MarkdownRun.Style()
    /// The state of the check box at the beginning of the current line: `x` or a space; nil if there is none.
    private var check: String?
    private var open: [Element] = []
    private var lists: [List] = []
    /// The text of the current block of code; nil outside blocks of code.
    private var code: [UInt8]?
    private var codeLanguage = ""
    private var table: Table?
    private var skipped = 0
    private var isInTitle = false
    /// The number of bytes of text that have been read so far.
    private var byteCount = 0

    private struct Element {
        let name: String
        let style: MarkdownRun.Style
        var end: End
    }

    /// The action to perform at the end of an element.
    private enum End {
        case nothing, skipped, block, paragraph, part, list, code, table, cell, title
        case heading(Int)
    }

    private struct List {
        let isOrdered: Bool
        let isChecklist: Bool
        var number: Int
    }

    /// A table, whose cells are collected until it ends. A table in a cell becomes text of this cell.
    private struct Table {
        var rows: [[String]] = []
        var depth = 1
        var isInCell = false
    }

    init(tasks: [String: [String]] = [:], storeData: @escaping (String) -> String? = { _ in nil }) {
        (self.tasks, self.storeData) = (tasks, storeData)
    }

    var isTooLarge: Bool { writer.isTooLarge || byteCount > MarkdownWriter.maximumBytes }

    /// The Markdown of the document that was parsed.
    func finish() -> String {
        if code != nil { endCode() }
        flush()
        for lines in tasks.sorted(by: { $0.key < $1.key }).map(\.value) { put(tasks: lines) }
        return writer.text
    }

    // MARK: Text

    func add(_ text: UnsafeBufferPointer<UInt8>) {
        if isInTitle { title += String(decoding: text, as: UTF8.self) }
        guard skipped == 0 else { return }
        if code != nil {
            code? += text
        } else {
            add(words: String(decoding: text, as: UTF8.self))
        }
    }

    private func add(words: String) {
        var text = ""
        var isAfterSpace = runs.last.map { $0.text.last == " " || $0.text.last == "\n" } ?? true
        for scalar in words.unicodeScalars {
            let isSpace = scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r" || scalar == "\u{c}"
            if isSpace, isAfterSpace { continue }
            text.unicodeScalars.append(isSpace || scalar == "\u{a0}" ? " " : scalar)
            isAfterSpace = isSpace
        }
        add(MarkdownRun(text: text, style: style))
    }

    private func add(_ run: MarkdownRun) {
        byteCount += run.text.utf8.count
        // If the text is too large for a note, its remaining words are not kept in memory.
        guard !run.text.isEmpty, !isTooLarge else { return }
        let hasSameStyle = runs.last.map { $0.style == run.style && !$0.isRaw } ?? false
        if hasSameStyle, !run.isRaw {
            runs[runs.count - 1].text += run.text
        } else {
            runs.append(run)
        }
    }

    // MARK: Elements

    func start(_ name: String, _ attributes: [String: String]) {
        let css = attributes["style"] ?? ""
        var element = Element(name: name, style: style, end: .nothing)
        defer { open.append(element) }
        guard skipped == 0, !Self.skippedNames.contains(name), Self.value("display", css) != "none" else {
            skipped += 1
            element.end = .skipped
            if name == "title", open.last?.name == "head" {
                isInTitle = true
                element.end = .title
            }
            return
        }
        if code != nil {
            if name == "code", code?.isEmpty == true { codeLanguage = Self.language(attributes["class"] ?? "") }
            if name == "br" { code?.append(UInt8(ascii: "\n")) }
            if Self.blockNames.contains(name) { endCodeLine() }
            return
        }
        switch name {
        case "br": add(MarkdownRun(text: "\n", style: MarkdownRun.Style()))
        case "hr":
            flush()
            put("---", before: 2, after: 2)
        case "img": addPicture(attributes["src"] ?? "", alt: attributes["alt"] ?? "")
        case "en-media":
            addPicture(Self.resourceScheme + (attributes["hash"] ?? "").lowercased(), alt: attributes["alt"] ?? "")
        case "en-todo": begin(check: attributes["checked"] == "true")
        case "input": if attributes["type"]?.lowercased() == "checkbox" { begin(check: attributes["checked"] != nil) }
        case "en-crypt":
            encryptedCount += 1
            add(MarkdownRun(text: "[encrypted text]", style: style, isRaw: true))
            skipped += 1
            element.end = .skipped
        case "h1", "h2", "h3", "h4", "h5", "h6":
            flush()
            element.end = .heading(name.last?.wholeNumberValue ?? 1)
        case "p":
            flush()
            element.end = .paragraph
        case "ul", "ol", "menu", "dir": element.end = beginList(name == "ol", attributes, css)
        case "li":
            flush()
            beginItem(attributes, css)
            element.end = .part
        case "blockquote":
            flush()
            writer.separate()
            writer.begin(first: "> ", rest: "> ", isItem: false)
            element.end = .part
        case "pre": element.end = beginCode(Self.language(attributes["class"] ?? ""))
        case "table", "tr", "td", "th": element.end = beginTable(name)
        case "a": style.address = Self.address(attributes["href"] ?? "")
        case _ where Self.codeNames.contains(name): style.isCode = true
        case _ where Self.blockNames.contains(name):
            flush()
            element.end = .block
            if Self.value("-en-codeblock", css) == "true" || Self.value("--en-codeblock", css) == "true" {
                element.end = beginCode(Self.value("--en-syntaxlanguage", css) ?? "")
            } else if Self.value("--en-task-group", css) == "true", let id = Self.value("--en-id", css),
                let lines = tasks.removeValue(forKey: id)
            {
                put(tasks: lines)
            }
        default: readStyle(name, css)
        }
    }

    func end(_ name: String) {
        guard let element = open.popLast() else { return }
        switch element.end {
        case .nothing: break
        case .skipped: skipped -= 1
        case .title:
            skipped -= 1
            isInTitle = false
        case .block:
            flush()
            check = nil
        case .paragraph:
            flush(isParagraph: true)
            check = nil
        case .heading(let level): endHeading(level)
        case .part:
            flush()
            check = nil
            writer.end()
            if element.name == "blockquote" { writer.separate() }
        case .list:
            flush()
            lists.removeLast()
            if lists.isEmpty { writer.separate() }
        case .code: endCode()
        case .table, .cell: endTable(element.end)
        }
        if code != nil, case .nothing = element.end, Self.blockNames.contains(element.name) { endCodeLine() }
        style = element.style
    }

    private func readStyle(_ name: String, _ css: String) {
        switch name {
        case "b", "strong": style.isBold = true
        case "i", "em", "cite": style.isItalic = true
        case "s", "strike", "del": style.isStruck = true
        default: break
        }
        if let weight = Self.value("font-weight", css) {
            style.isBold = ["bold", "bolder", "600", "700", "800", "900"].contains(weight)
        }
        if let slant = Self.value("font-style", css) { style.isItalic = slant == "italic" || slant == "oblique" }
        if Self.value("text-decoration", css)?.contains("line-through") == true { style.isStruck = true }
    }

    private func addPicture(_ source: String, alt: String) {
        var address = source
        if source.hasPrefix("data:") {
            guard let stored = storeData(source) else { return }
            address = stored
        }
        guard !address.isEmpty else { return }
        let alt = alt.filter { !"[]\\".contains($0) && !$0.isNewline }
        add(MarkdownRun(text: "![\(alt)](\(Self.escaped(address)))", style: style, isRaw: true))
    }

    /// Begins a line that has a check box.
    private func begin(check isChecked: Bool) {
        if runs.contains(where: { !$0.text.allSatisfy(\.isWhitespace) }) { flush() }
        check = isChecked ? "x" : " "
    }

    // MARK: Lines

    /// Writes the text of ``runs`` as lines or as a paragraph, and empties ``runs``.
    private func flush(isParagraph: Bool = false) {
        var lines = self.lines
        runs = []
        // HTML does not show a line break at the end of a block, so it is removed.
        if lines.count > 1, lines.last?.isEmpty == true {
            lines.removeLast()
        } else if lines.count == 1, lines[0].isEmpty {
            return
        }
        for (index, line) in lines.enumerated() {
            guard !line.isEmpty else {
                writer.separate()
                continue
            }
            var text = MarkdownLine(line).text
            let isAtItem = writer.isAtItem
            if let check {
                text = isAtItem ? "[\(check)] \(text)" : "- [\(check)] \(text)"
                self.check = nil
            }
            let isApart = isParagraph && !isAtItem
            put(
                text, before: isApart && index == 0 ? 2 : 1, after: isApart && index == lines.count - 1 ? 2 : 1)
        }
    }

    /// The contents of ``runs``, divided into lines. Spaces at the ends of the lines are removed.
    private var lines: [[MarkdownRun]] {
        var lines: [[MarkdownRun]] = [[]]
        for run in runs {
            let parts = run.isRaw ? [run.text[...]] : run.text.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0 { lines.append([]) }
                if !part.isEmpty {
                    lines[lines.count - 1].append(MarkdownRun(text: String(part), style: run.style, isRaw: run.isRaw))
                }
            }
        }
        return lines.map { line in
            let isSpace = { (run: MarkdownRun) in run.text.allSatisfy { $0 == " " } }
            guard let first = line.firstIndex(where: { !isSpace($0) }),
                let last = line.lastIndex(where: { !isSpace($0) })
            else { return [] }
            var line = Array(line[first...last])
            line[0].text = String(line[0].text.drop { $0 == " " })
            while line[line.count - 1].text.last == " " { line[line.count - 1].text.removeLast() }
            return line
        }
    }

    /// Writes a line. Within a cell of a table, adds the line to the text of the cell instead.
    private func put(_ text: String, before: Int, after: Int) {
        guard table?.isInCell == true, let row = table?.rows.indices.last, let cell = table?.rows[row].indices.last
        else {
            return writer.put(text, before: before, after: after)
        }
        let space = table?.rows[row][cell].isEmpty == false ? " " : ""
        table?.rows[row][cell] += space + text.replacing("|", with: "\\|")
    }

    private func put(tasks lines: [String]) {
        writer.separate()
        for line in lines { put(line, before: 1, after: 1) }
        writer.separate()
    }

    private func endHeading(_ level: Int) {
        for index in runs.indices {
            runs[index].style.isBold = false
            if !runs[index].isRaw { runs[index].text = runs[index].text.replacing("\n", with: " ") }
        }
        guard let line = lines.first, !line.isEmpty else { return flush() }
        runs = []
        put(String(repeating: "#", count: level) + " " + MarkdownLine(line).text, before: 2, after: 2)
    }

    // MARK: Lists

    private func beginList(_ isOrdered: Bool, _ attributes: [String: String], _ css: String) -> End {
        flush()
        if lists.isEmpty { writer.separate() }
        lists.append(
            List(
                isOrdered: isOrdered, isChecklist: Self.value("--en-todo", css) == "true",
                number: attributes["start"].flatMap { Int($0) } ?? 1))
        return .list
    }

    private func beginItem(_ attributes: [String: String], _ css: String) {
        var mark = "- "
        if let list = lists.last {
            if list.isOrdered, !list.isChecklist { mark = "\(list.number). " }
            if list.number < Int(Int32.max) { lists[lists.count - 1].number += 1 }
        }
        let classes = (attributes["class"] ?? "").split(separator: " ")
        writer.begin(first: mark, rest: String(repeating: " ", count: mark.count), isItem: true)
        if let checked = Self.value("--en-checked", css) {
            check = checked == "true" ? "x" : " "
        } else if lists.last?.isChecklist == true || classes.contains("unchecked") {
            check = " "
        } else if classes.contains("checked") {
            check = "x"
        }
    }

    // MARK: Code

    private func beginCode(_ language: String) -> End {
        flush()
        code = []
        codeLanguage = language.filter { $0.isLetter || $0.isNumber || "+-#".contains($0) }
        return .code
    }

    /// The programming language of a block of code, from a class such as `language-swift`; empty if there is none.
    private static func language(_ classes: String) -> String {
        classes.split(separator: " ").compactMap { $0.hasPrefix("language-") ? String($0.dropFirst(9)) : nil }.first
            ?? ""
    }

    private func endCodeLine() {
        if let last = code?.last, last != UInt8(ascii: "\n") { code?.append(UInt8(ascii: "\n")) }
    }

    private func endCode() {
        let text = String(decoding: code ?? [], as: UTF8.self).withLineFeeds.replacing("\u{a0}", with: " ")
        code = nil
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let (first, last) = (lines.firstIndex { !$0.isEmpty }, lines.lastIndex { !$0.allSatisfy(\.isWhitespace) })
        guard let first, let last else { return }
        let fence = lines.contains { $0.contains("```") } ? "~~~~" : "```"
        put(fence + codeLanguage, before: 2, after: 1)
        for line in lines[min(first, last)...last] { put(String(line), before: 1, after: 1) }
        put(fence, before: 1, after: 2)
    }

    // MARK: Tables

    private func beginTable(_ name: String) -> End {
        flush()
        switch name {
        case "table":
            if table == nil { table = Table() } else { table?.depth += 1 }
            return .table
        case "tr":
            if table?.depth == 1 { table?.rows.append([]) }
            return .block
        default:
            guard table?.depth == 1, let row = table?.rows.indices.last else { return .block }
            table?.rows[row].append("")
            table?.isInCell = true
            return .cell
        }
    }

    private func endTable(_ end: End) {
        flush()
        if case .cell = end {
            table?.isInCell = false
            return
        }
        table?.depth -= 1
        guard let rows = table?.rows.filter({ !$0.isEmpty }), table?.depth == 0 else { return }
        table = nil
        let width = rows.map(\.count).max() ?? 0
        writer.separate()
        // A table with one column is usually only a frame around text, so its text is written without a table. Very wide tables are
        // written without a table too.
        guard width > 1, width <= 100 else {
            for text in rows.flatMap(\.self) where !text.isEmpty {
                put(text.replacing("\\|", with: "|"), before: 1, after: 2)
            }
            return
        }
        for (index, row) in rows.enumerated() {
            let cells = row + Array(repeating: "", count: width - row.count)
            put("| " + cells.joined(separator: " | ") + " |", before: 1, after: 1)
            if index == 0 { put("|" + String(repeating: " --- |", count: width), before: 1, after: 1) }
        }
        writer.separate()
    }

    // MARK: Names and values

    /// The elements that are skipped, because they have no text or because their text is not part of the content.
    private static let skippedNames: Set<String> = [
        "script", "style", "head", "title", "meta", "link", "base", "template", "noscript", "iframe", "frame", "object",
        "embed",
        "applet", "svg", "canvas", "audio", "video", "button", "select", "textarea", "map", "icons",
    ]
    private static let blockNames: Set<String> = [
        "address", "article", "aside", "body", "caption", "center", "dd", "details", "div", "dl", "dt", "en-note",
        "fieldset",
        "figcaption", "figure", "footer", "form", "header", "html", "legend", "main", "nav", "p", "section", "summary",
        "tbody",
        "tfoot", "thead", "li", "tr",
    ]
    private static let codeNames: Set<String> = ["code", "tt", "kbd", "samp"]

    /// The value of a CSS property in a `style` attribute; nil if the property is not set. The value is converted to lower case,
    /// except for the property `--en-id`.
    static func value(_ property: String, _ css: String) -> String? {
        guard css.utf8.contains(UInt8(ascii: ":")) else { return nil }
        for declaration in css.split(separator: ";") {
            guard let colon = declaration.firstIndex(of: ":"),
                declaration[..<colon].trimmingCharacters(in: .whitespaces).lowercased() == property
            else { continue }
            let value = declaration[declaration.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return property == "--en-id" ? value : value.lowercased()
        }
        return nil
    }

    /// The address of a link; empty if the address has no use outside the document, for example an anchor or a script.
    private static func address(_ href: String) -> String {
        let href = href.trimmingCharacters(in: .whitespacesAndNewlines)
        let scheme = href.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
        let isAbsolute = href.dropFirst(scheme.count).first == ":"
        if isAbsolute, !["http", "https", "mailto", "tel", "evernote"].contains(scheme.lowercased()) { return "" }
        return href.hasPrefix("#") ? "" : escaped(href)
    }

    /// Percent-encodes the characters that would end an address in Markdown, and removes line breaks and tabs.
    private static func escaped(_ address: String) -> String {
        var result = ""
        for character in address {
            switch character {
            case " ": result += "%20"
            case "(": result += "%28"
            case ")": result += "%29"
            case "<": result += "%3C"
            case ">": result += "%3E"
            case "\\": result += "%5C"
            case _ where character.isNewline || character == "\t": continue
            default: result.append(character)
            }
        }
        return result
    }
}
