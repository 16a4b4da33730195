import Foundation

/// A link of a Markdown text to a file: `![alt](target)`, `[text](target)`, `![[target]]` or `[[target]]`.
package struct FileLink: Hashable, Sendable {
    /// The paths that the target can mean, most likely first.
    package let targets: [String]
    /// Whether the link is written with double brackets, as in Obsidian. The target of such a link may be only the name of a file,
    /// which may be in any folder.
    package let isWiki: Bool

    package init(_ targets: [String], isWiki: Bool = false) { (self.targets, self.isWiki) = (targets, isWiki) }

    /// The links in a text that may lead to files, each once. Links in code and links to web pages are left out.
    package static func all(in text: String) -> [FileLink] {
        var known: Set<FileLink> = []
        return LinkMention.all(in: Array(text.utf8)).map(\.link).filter {
            !$0.targets.isEmpty && known.insert($0).inserted
        }
    }

    /// The path, relative to the root folder, to which `target` leads from the folder `base`. Nil if `target` is absolute, leads
    /// out of the root folder, or contains the name of a hidden file or folder.
    package static func joined(_ base: [String], _ target: String) -> String? {
        guard !target.hasPrefix("/"), !target.contains("\0") else { return nil }
        var parts = base
        for part in target.split(separator: "/") {
            switch part {
            case ".": continue
            case "..":
                guard parts.popLast() != nil else { return nil }
            case _ where part.hasPrefix("."): return nil
            default: parts.append(String(part))
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }
}

/// A place in a text where a link is written.
package struct LinkMention: Equatable, Sendable {
    package let link: FileLink
    /// The range of the link in the bytes of the text. It includes the `!` before the link of an embedded file.
    package let range: Range<Int>
    /// The range to replace in order to change the target of the link. It includes `<` and `>` if the target is written between
    /// them. Nil if the link is written with double brackets or in HTML.
    package var target: Range<Int>?
    /// The target as it is written, without escapes.
    package let address: String
    /// The text that is shown instead of the target; nil if the link has no such text.
    package let label: String?
    /// The part of the target from `#` on.
    package let fragment: String
    package let isEmbedded: Bool

    /// The links in a UTF-8 text, except links in code. They are in the order of their ends, so that a link within another link
    /// comes first.
    /// - Parameter includesHTML: whether `<img src="target">` counts as a link.
    package static func all(in text: [UInt8], includesHTML: Bool = false) -> [LinkMention] {
        guard text.contains(where: { $0 == UInt8(ascii: "[") || (includesHTML && $0 == UInt8(ascii: "<")) }) else {
            return []
        }
        var scanner = LinkScanner(text, includesHTML: includesHTML)
        scanner.scan()
        return scanner.mentions
    }
}

/// Finds links in a text.
private struct LinkScanner {
    private let text: [UInt8]
    private let includesHTML: Bool
    private(set) var mentions: [LinkMention] = []
    /// The positions of the opening brackets for which no closing bracket has been found yet.
    private var open: [Int] = []

    init(_ text: [UInt8], includesHTML: Bool) { (self.text, self.includesHTML) = (text, includesHTML) }

    mutating func scan() {
        var line = 0
        var paragraph = 0
        while line < text.count {
            let end = self.end(ofLine: line)
            let fence = fence(line..<end)
            if fence != nil || isBlank(line..<end) {
                scan(paragraph..<line)
                line = fence.map { self.end(of: $0, from: end) } ?? end
                paragraph = line
            } else {
                line = end
            }
        }
        scan(paragraph..<text.count)
    }

    // MARK: Lines

    private func end(ofLine start: Int) -> Int {
        text[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? text.count
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private func isBlank(_ line: Range<Int>) -> Bool { text[line].allSatisfy(isSpace) }

    /// The fence in a line that begins a block of code: the character (a backtick or a tilde), and how often the character is
    /// repeated. Nil if the line does not begin a block of code.
    private func fence(_ line: Range<Int>) -> (mark: UInt8, count: Int)? {
        // A block of code can be in a list or in a quotation, so spaces and `>` before the marks are skipped.
        let start = text[line].firstIndex { !isSpace($0) && $0 != UInt8(ascii: ">") } ?? line.upperBound
        guard start < line.upperBound, [UInt8(ascii: "`"), UInt8(ascii: "~")].contains(text[start]) else { return nil }
        let mark = text[start]
        let rest = text[start..<line.upperBound].drop { $0 == mark }
        let count = rest.startIndex - start
        guard count >= 3, mark != UInt8(ascii: "`") || !rest.contains(mark) else { return nil }
        return (mark, count)
    }

    /// The position after a block of code.
    private func end(of fence: (mark: UInt8, count: Int), from start: Int) -> Int {
        var line = start
        while line < text.count {
            let end = end(ofLine: line)
            if let closing = self.fence(line..<end), closing.mark == fence.mark, closing.count >= fence.count,
                text[line..<end].allSatisfy({ $0 == fence.mark || isSpace($0) || $0 == UInt8(ascii: ">") })
            {
                return end
            }
            line = end
        }
        return text.count
    }

    // MARK: Paragraphs

    private mutating func scan(_ range: Range<Int>) {
        open = []
        var position = range.lowerBound
        while position < range.upperBound {
            switch text[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "`"): position = endOfCode(position, range.upperBound)
            case UInt8(ascii: "["):
                if let end = wikiLink(position, range.upperBound) {
                    position = end
                } else {
                    open.append(position)
                    position += 1
                }
            case UInt8(ascii: "]"):
                position += 1
                guard let start = open.popLast(), position < range.upperBound, text[position] == UInt8(ascii: "(")
                else { continue }
                if let end = destination(position + 1, range.upperBound, label: start + 1..<position - 1) {
                    position = end
                }
            case UInt8(ascii: "<") where includesHTML:
                position = picture(position, range.upperBound) ?? position + 1
            default: position += 1
            }
        }
    }

    /// The position after a piece of code in backticks. If there are no closing backticks, the position after the opening
    /// backticks.
    private func endOfCode(_ start: Int, _ limit: Int) -> Int {
        func endOfRun(_ start: Int) -> Int { text[start..<limit].firstIndex { $0 != UInt8(ascii: "`") } ?? limit }
        let first = endOfRun(start)
        var position = first
        while let next = text[position..<limit].firstIndex(of: UInt8(ascii: "`")) {
            position = endOfRun(next)
            if position - next == first - start { return position }
        }
        return first
    }

    /// Whether the link that begins at `bracket` embeds a file, that is, whether an unescaped `!` precedes the bracket.
    private func isEmbedded(_ bracket: Int) -> Bool {
        guard bracket > 0, text[bracket - 1] == UInt8(ascii: "!") else { return false }
        return bracket == 1 || text[bracket - 2] != UInt8(ascii: "\\")
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    /// Reads a link in double brackets, such as `[[target#heading|text]]`.
    /// - Returns: the position after the link; nil if there is no such link.
    private mutating func wikiLink(_ start: Int, _ limit: Int) -> Int? {
        guard start + 1 < limit, text[start + 1] == UInt8(ascii: "[") else { return nil }
        let content = start + 2
        guard content <= limit,
            let end = text[content..<limit].firstIndex(where: { [0x5b, 0x5d, 0x0a].contains($0) }),
            end + 1 < limit, text[end] == UInt8(ascii: "]"), text[end + 1] == UInt8(ascii: "]")
        else { return nil }
        let whole = string(content..<end)
        // In a Markdown table, the `|` between target and text is written `\|`, so a backslash is removed from the end of the
        // target.
        let target = whole.prefix { $0 != "|" && $0 != "#" }.trimmingCharacters(in: [" ", "\t", "\\"])
        let fragment = whole.drop { $0 != "|" && $0 != "#" }.prefix { $0 != "|" }
        let isEmbedded = isEmbedded(start)
        mentions.append(
            LinkMention(
                link: FileLink([target].filter { !$0.isEmpty }, isWiki: true),
                range: start - (isEmbedded ? 1 : 0)..<end + 2,
                address: target, label: whole.firstIndex(of: "|").map { String(whole[whole.index(after: $0)...]) },
                fragment: fragment.trimmingCharacters(in: [" ", "\\"]), isEmbedded: isEmbedded))
        return end + 2
    }

    /// Reads the destination of a link, an optional title, and the closing parenthesis.
    /// - Returns: the position after the parenthesis; nil if this is not a link.
    private mutating func destination(_ start: Int, _ limit: Int, label: Range<Int>) -> Int? {
        var position = skipSpace(start, limit)
        guard position < limit else { return nil }
        let first = position
        var target: [UInt8] = []
        let isBracketed = text[position] == UInt8(ascii: "<")
        if isBracketed { position += 1 }
        var depth = 0
        loop: while true {
            guard position < limit else { return nil }
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "\\") where position + 1 < limit && isPunctuation(text[position + 1]):
                position += 1
                target.append(text[position])
            case UInt8(ascii: "\n"), UInt8(ascii: "<"):
                if isBracketed { return nil }
                break loop
            case UInt8(ascii: ">") where isBracketed: break loop
            case UInt8(ascii: "(") where !isBracketed:
                depth += 1
                target.append(byte)
            case UInt8(ascii: ")") where !isBracketed:
                if depth == 0 { break loop }
                depth -= 1
                target.append(byte)
            case 0x20, 0x09, 0x0d:
                if !isBracketed { break loop }
                target.append(byte)
            default: target.append(byte)
            }
            position += 1
        }
        if isBracketed { position += 1 }
        let last = position
        position = skipSpace(position, limit)
        if position < limit, text[position] != UInt8(ascii: ")") {
            guard let end = endOfTitle(position, limit) else { return nil }
            position = skipSpace(end, limit)
        }
        guard position < limit, text[position] == UInt8(ascii: ")") else { return nil }
        let address = String(decoding: target, as: UTF8.self)
        let isEmbedded = isEmbedded(label.lowerBound - 1)
        mentions.append(
            LinkMention(
                link: FileLink(LinkScanner.targets(address)),
                range: label.lowerBound - (isEmbedded ? 2 : 1)..<position + 1, target: first..<last, address: address,
                label: label.isEmpty ? nil : string(label),
                fragment: String(address.drop { $0 != "#" }), isEmbedded: isEmbedded))
        return position + 1
    }

    // MARK: HTML

    /// Reads `<img src="target" alt="text">`.
    private mutating func picture(_ start: Int, _ limit: Int) -> Int? {
        guard start + 5 < limit, string(start..<start + 4).lowercased() == "<img", isSpace(text[start + 4]) else {
            return nil
        }
        var position = start + 5
        var attributes: [String: String] = [:]
        while position < limit {
            position = text[position..<limit].firstIndex { !isSpace($0) && $0 != UInt8(ascii: "/") } ?? limit
            guard position < limit else { return nil }
            if text[position] == UInt8(ascii: ">") { break }
            let name = position
            position = text[name..<limit].firstIndex { isSpace($0) || [0x3d, 0x3e, 0x2f].contains($0) } ?? limit
            guard position < limit, position > name else { return nil }
            let key = string(name..<position).lowercased()
            guard text[position] == UInt8(ascii: "=") else { continue }
            position += 1
            guard position < limit else { return nil }
            let quote = text[position]
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                guard let end = text[(position + 1)..<limit].firstIndex(of: quote) else { return nil }
                attributes[key] = string(position + 1..<end)
                position = end + 1
            } else {
                let end = text[position..<limit].firstIndex { isSpace($0) || $0 == UInt8(ascii: ">") } ?? limit
                attributes[key] = string(position..<end)
                position = end
            }
        }
        guard position < limit, let address = attributes["src"] else { return nil }
        mentions.append(
            LinkMention(
                link: FileLink(LinkScanner.targets(address)), range: start..<position + 1, address: address,
                label: attributes["alt"].flatMap { $0.isEmpty ? nil : $0 }, fragment: "", isEmbedded: true))
        return position + 1
    }

    private func isPunctuation(_ byte: UInt8) -> Bool {
        (0x21...0x2f).contains(byte) || (0x3a...0x40).contains(byte) || (0x5b...0x60).contains(byte)
            || (0x7b...0x7e).contains(byte)
    }

    private func skipSpace(_ start: Int, _ limit: Int) -> Int {
        text[start..<limit].firstIndex { !isSpace($0) } ?? limit
    }

    private func endOfTitle(_ start: Int, _ limit: Int) -> Int? {
        let pairs: [UInt8: UInt8] = [0x22: 0x22, 0x27: 0x27, 0x28: 0x29]
        guard let closing = pairs[text[start]] else { return nil }
        var position = start + 1
        while position < limit {
            if text[position] == closing { return position + 1 }
            position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// The paths that the destination of a link can mean: the whole destination, the destination without query and fragment (both
    /// with percent-encoding decoded), and the destination exactly as it is written.
    private static func targets(_ written: String) -> [String] {
        // Absolute paths, fragments and URLs do not lead to files. A link to a file whose name has a colon must be
        // written `./a:b.png`.
        guard !written.isEmpty, !written.hasPrefix("/"), !written.hasPrefix("#"),
            written.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:/) == nil
        else { return [] }
        var targets: [String] = []
        for target in [written, String(written.prefix { $0 != "#" && $0 != "?" })] {
            guard let decoded = target.removingPercentEncoding, !decoded.isEmpty, !targets.contains(decoded) else {
                continue
            }
            targets.append(decoded)
        }
        if !targets.contains(written) { targets.append(written) }
        return targets
    }
}
