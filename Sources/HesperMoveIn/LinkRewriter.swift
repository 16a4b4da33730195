import Foundation
import HesperModel

/// Replaces links in an imported text. A link to a picture becomes `![](attachment:ID)`, a mark (protocol.md, Pictures in texts). A
/// link to another file is replaced with the text of the link. A link to a note becomes `[[Title]]`.
enum LinkRewriter {
    enum Target {
        case note(title: String)
        case attachment(SourceAttachment)
        /// A file that was not imported. Only the text of the link remains.
        case nothing
    }

    /// - Parameters:
    ///   - start: the byte offset at which to begin. Links before this offset are not replaced.
    ///   - resolve: returns the target of a link; nil if the link is not to be replaced.
    static func rewrite(_ text: String, from start: Int = 0, _ resolve: (LinkMention) -> Target?) -> String {
        let bytes = Array(text.utf8)
        let mentions = LinkMention.all(in: bytes, includesHTML: true)
        guard !mentions.isEmpty else { return text }
        var changes: [(range: Range<Int>, text: [UInt8])] = []
        for mention in mentions where mention.range.lowerBound >= start {
            guard let target = resolve(mention), let text = replacement(mention, target, in: bytes) else { continue }
            // If a link contains a picture, only the picture is replaced.
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
            // Only the address is replaced. The alternative text and the title of the picture stay.
            let mark =
                text[mention.range.lowerBound..<target.lowerBound] + Array("attachment:\(attachment.uniqueID)".utf8)
                + text[target.upperBound..<mention.range.upperBound]
            if AttachmentMark.all(in: Array(mark)).first?.range == 0..<mark.count {
                return String(decoding: mark, as: UTF8.self)
            }
        }
        return mark(attachment, alt: label ?? "")
    }

    /// The mark that shows an attachment as a picture in a text.
    static func mark(_ attachment: SourceAttachment, alt: String = "") -> String {
        var escaped = ""
        for character in alt.split(whereSeparator: \.isNewline).joined(separator: " ") {
            if "[]\\".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return "![\(escaped)](attachment:\(attachment.uniqueID))"
    }

    /// Removes the size from the alternative text of a picture. Obsidian writes sizes there, for example `300`, `300x200` or
    /// `text|300`.
    private static func withoutSize(_ label: String) -> String {
        let parts = label.split(separator: "|", omittingEmptySubsequences: false)
        guard let last = parts.last?.trimmingCharacters(in: .whitespaces), !last.isEmpty,
            last.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "x") }), last.first?.isNumber == true
        else { return label }
        return parts.dropLast().joined(separator: "|")
    }

    /// The text that replaces a link to a note: `[[Title]]`, or only the text of the link if the title cannot be written in double
    /// brackets. Nil if the link is not replaced.
    private static func link(_ mention: LinkMention, to title: String) -> String? {
        let shown = mention.label ?? (mention.link.isWiki ? name(mention.address) : title)
        guard NoteTitle.isLinkable(title) else { return mention.link.isWiki ? nil : shown }
        let fragment = mention.link.isWiki ? mention.fragment : ""
        let isPlain = shown == title || shown.isEmpty || shown.contains { "[]|".contains($0) || $0.isNewline }
        return "[[\(title)\(fragment)\(isPlain ? "" : "|\(shown)")]]"
    }

    /// The name of a note: the last component of its path, without the extension `.md`.
    private static func name(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.lowercased().hasSuffix(".md") ? String(name.dropLast(3)) : name
    }
}
