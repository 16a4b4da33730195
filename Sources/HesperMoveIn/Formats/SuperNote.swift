import Foundation
import HesperModel

/// Converts a note of Super, an editor of Standard Notes, to Markdown. The text of such a note is a tree of nodes in JSON, in the
/// format of the library Lexical.
enum SuperNote {
    /// The maximum nesting depth of the tree.
    private static let depth = 256

    /// - Returns: nil if the text is not a tree of nodes in this format.
    static func markdown(_ text: String) -> String? {
        guard let json = try? JSONReader.read(Array(text.utf8), depth: depth), let root = json["root"] else {
            return nil
        }
        return root.children.map { block($0, indent: "") }.joined(separator: "\n\n")
    }

    private static func block(_ node: JSON, indent: String) -> String {
        switch node["type"]?.text {
        case "heading":
            let level = node["tag"]?.text?.last?.wholeNumberValue ?? 1
            return "\(indent)\(String(repeating: "#", count: min(max(level, 1), 6))) \(inline(node))"
        case "quote": return lines(inline(node), with: "\(indent)> ")
        case "code":
            return "\(indent)```\(node["language"]?.text ?? "")\n\(inline(node, isCode: true))\n\(indent)```"
        case "horizontalrule": return "\(indent)---"
        case "list": return list(node, indent: indent)
        case "table":
            return node.children.map { row in
                "| "
                    + row.children.map { cell in
                        cell.children.map { inline($0) }.joined(separator: " ").replacing("\n", with: " ")
                    }.joined(separator: " | ") + " |"
            }.joined(separator: "\n")
        default: return lines(inline(node), with: indent)
        }
    }

    private static func list(_ node: JSON, indent: String) -> String {
        var number = node["start"]?.number ?? 1
        var items: [String] = []
        for item in node.children {
            // Lexical puts a nested list into an item of its own, which contains nothing besides the list.
            let nested = item.children.filter { $0["type"]?.text == "list" }
            if nested.count == item.children.count, !nested.isEmpty {
                items += nested.map { list($0, indent: indent + "    ") }
                continue
            }
            let mark: String
            switch node["listType"]?.text {
            case "number": mark = "\(number)."
            case "check": mark = item["checked"]?.isTrue == true ? "- [x]" : "- [ ]"
            default: mark = "-"
            }
            number = number < Limits.integer ? number + 1 : number
            items.append("\(indent)\(mark) \(inline(item))")
            items += nested.map { list($0, indent: indent + "    ") }
        }
        return items.joined(separator: "\n")
    }

    private static func lines(_ text: String, with prefix: String) -> String {
        prefix.isEmpty
            ? text
            : text.split(separator: "\n", omittingEmptySubsequences: false).map { prefix + $0 }.joined(separator: "\n")
    }

    private static func inline(_ node: JSON, isCode: Bool = false) -> String {
        node.children.map { child in
            switch child["type"]?.text {
            case "linebreak": return "\n"
            case "tab": return "\t"
            case "list": return ""
            case "link", "autolink":
                let text = inline(child)
                guard let url = child["url"]?.text, url != text else { return text }
                return "[\(text)](\(url))"
            default:
                guard let text = child["text"]?.text else { return inline(child, isCode: isCode) }
                return isCode ? text : formatted(text, child["format"]?.number ?? 0)
            }
        }.joined()
    }

    /// Adds Markdown marks around a text according to `format`. From the lowest bit, the bits mean: bold, italic, struck out,
    /// underlined, code.
    private static func formatted(_ text: String, _ format: Int64) -> String {
        let words = text.trimmingCharacters(in: .whitespaces)
        guard format != 0, !words.isEmpty, let range = text.firstRange(of: words) else { return text }
        var marks = ""
        if format & 1 != 0 { marks += "**" }
        if format & 2 != 0 { marks += "*" }
        if format & 4 != 0 { marks += "~~" }
        if format & 16 != 0 { marks = "`" }
        return text[..<range.lowerBound] + marks + words + String(marks.reversed()) + text[range.upperBound...]
    }
}

extension JSON {
    fileprivate var children: [JSON] { self["children"]?.elements ?? [] }
}
