import Foundation
import HesperModel

/// Replaces the links of an imported text: a link to a picture becomes a mark (protocol.md, Pictures in texts), a link to another
/// file its text, and a link to a note `[[Title]]`.
enum LinkRewriter {
    enum Target {
        case note(title: String)
        case attachment(SourceAttachment)
        /// A file that is not there. The text of the link remains.
        case nothing
    }

    /// - Parameters:
    ///   - start: the number of bytes at the beginning of the text that stay as they are.
    ///   - resolve: returns nil for links that stay as they are.
    static func rewrite(_ text: String, from start: Int = 0, _ resolve: (LinkMention) -> Target?) -> String {
        let bytes = Array(text.utf8)
        let mentions = LinkMention.all(in: bytes, includesHTML: true)
        guard !mentions.isEmpty else { return text }
        var changes: [(range: Range<Int>, text: [UInt8])] = []
        for mention in mentions where mention.range.lowerBound >= start {
            guard let target = resolve(mention), let text = replacement(mention, target, in: bytes) else { continue }
            // A picture in a link is replaced, and the link around it stays.
            if let last = changes.last, last.range.overlaps(mention.range) { continue }
            changes.append((mention.range, Array(text.utf8)))
        }
        var result: [UInt8] = []
        var position = 0
        for change in changes {
            result += bytes[position..<change.range.lowerBound]
            result += change.text
            position = change.range.upperBound
        }
        return position == 0 ? text : String(decoding: result + bytes[position...], as: UTF8.self)
    }

    private static func replacement(_ mention: LinkMention, _ target: Target, in text: [UInt8]) -> String? {
        switch target {
        case .attachment(let attachment) where attachment.isPicture: picture(mention, attachment, in: text)
        case .attachment(let attachment): mention.label ?? attachment.filename
        case .note(let title): link(mention, to: title)
        case .nothing: mention.label ?? ""
        }
    }

    private static func picture(_ mention: LinkMention, _ attachment: SourceAttachment, in text: [UInt8]) -> String {
        let label = mention.label.map(withoutSize)
        if mention.isEmbedded, let target = mention.target, label == mention.label {
            // The alternative text and the title stay as they are written.
            let mark =
                text[mention.range.lowerBound..<target.lowerBound] + Array("attachment:\(attachment.uniqueID)".utf8)
                + text[target.upperBound..<mention.range.upperBound]
            if AttachmentMark.all(in: Array(mark)).first?.range == 0..<mark.count {
                return String(decoding: mark, as: UTF8.self)
            }
        }
        return mark(attachment, alt: label ?? "")
    }

    /// A mark that shows a picture.
    static func mark(_ attachment: SourceAttachment, alt: String = "") -> String {
        var escaped = ""
        for character in alt.split(whereSeparator: \.isNewline).joined(separator: " ") {
            if "[]\\".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return "![\(escaped)](attachment:\(attachment.uniqueID))"
    }

    /// Removes the size that Obsidian writes in the alternative text: `300`, `300x200`, `text|300`.
    private static func withoutSize(_ label: String) -> String {
        let parts = label.split(separator: "|", omittingEmptySubsequences: false)
        guard let last = parts.last?.trimmingCharacters(in: .whitespaces), !last.isEmpty,
            last.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "x") }), last.first?.isNumber == true
        else { return label }
        return parts.dropLast().joined(separator: "|")
    }

    /// A link to a note; nil if it stays as it is.
    private static func link(_ mention: LinkMention, to title: String) -> String? {
        let shown = mention.label ?? (mention.link.isWiki ? name(mention.address) : title)
        guard NoteTitle.isLinkable(title) else { return mention.link.isWiki ? nil : shown }
        let fragment = mention.link.isWiki ? mention.fragment : ""
        let isPlain = shown == title || shown.isEmpty || shown.contains { "[]|".contains($0) || $0.isNewline }
        return "[[\(title)\(fragment)\(isPlain ? "" : "|\(shown)")]]"
    }

    /// The name of a note in a path.
    private static func name(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.lowercased().hasSuffix(".md") ? String(name.dropLast(3)) : name
    }
}
