/// The mark of a picture in the text of a note, such as `![Rome](attachment:c9a646d3-9c61-4cb7-bfcd-ee2522c8f633)` (protocol.md,
/// Pictures in texts). `Public/js/model/marks.js` finds the same marks.
package struct AttachmentMark: Equatable {
    /// The range of the mark in the bytes of the text.
    package let range: Range<Int>
    package let alt: Range<Int>
    /// The range of the target in the bytes of the text. The target is `attachment:` followed by the ID.
    package let target: Range<Int>
    package let uniqueID: UniqueID

    private static let scheme = Array("](attachment:".utf8)
    private static let idLength = 36

    /// All marks of attachments in a UTF-8 text, in the order of the text.
    package static func all(in text: [UInt8]) -> [AttachmentMark] {
        var marks: [AttachmentMark] = []
        var position = 0
        while let mark = first(in: text, from: position) {
            marks.append(mark)
            position = mark.range.upperBound
        }
        return marks
    }

    /// Replaces the target of each mark in a text. `target` returns the new target for an ID, or nil if the mark is not to be
    /// changed.
    package static func rewrite(_ text: [UInt8], target: (UniqueID) -> String?) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        for mark in all(in: text) {
            guard let target = target(mark.uniqueID) else { continue }
            result += text[position..<mark.target.lowerBound]
            result += target.utf8
            position = mark.target.upperBound
        }
        return position == 0 ? text : result + text[position...]
    }

    /// Replaces each mark of a text with its alternative text.
    package static func removeAll(from text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        for mark in all(in: bytes) {
            result += bytes[position..<mark.range.lowerBound] + bytes[mark.alt]
            position = mark.range.upperBound
        }
        return position == 0 ? text : String(decoding: result + bytes[position...], as: UTF8.self)
    }

    private static func first(in text: [UInt8], from start: Int) -> AttachmentMark? {
        var position = start
        while position < text.count {
            guard let found = text[position...].firstIndex(of: UInt8(ascii: "!")) else { return nil }
            position = found + 1
            guard found == 0 || text[found - 1] != UInt8(ascii: "\\") else { continue }
            if let mark = mark(in: text, at: found) { return mark }
        }
        return nil
    }

    private static func mark(in text: [UInt8], at start: Int) -> AttachmentMark? {
        guard text.dropFirst(start + 1).first == UInt8(ascii: "[") else { return nil }
        let alt = start + 2
        guard let end = endOfRun(in: text, from: alt, without: "[]"),
            text[end...].starts(with: scheme)
        else { return nil }
        let id = end + scheme.count
        guard id + idLength < text.count,
            text[id..<id + idLength].allSatisfy({ !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }),
            let uniqueID = UniqueID(String(decoding: text[id..<id + idLength], as: UTF8.self)),
            let close = endOfTitle(in: text, from: id + idLength), text[close] == UInt8(ascii: ")")
        else { return nil }
        return AttachmentMark(
            range: start..<close + 1, alt: alt..<end, target: end + 2..<id + idLength, uniqueID: uniqueID)
    }

    /// The position after the optional title of a picture, such as `"Rome"` in `(attachment:… "Rome")`. White space before and
    /// after the title is skipped. Nil if the title is not closed, or if this position is the end of the text.
    private static func endOfTitle(in text: [UInt8], from start: Int) -> Int? {
        func skipSpace(_ start: Int) -> Int {
            text[start...].firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") } ?? text.count
        }
        var position = skipSpace(start)
        guard position < text.count else { return nil }
        let pairs: [UInt8: Unicode.Scalar] = [0x22: "\"", 0x27: "'", 0x28: ")"]
        guard position > start, let closing = pairs[text[position]] else { return position }
        let excluded = closing == ")" ? "()" : String(closing)
        guard let end = endOfRun(in: text, from: position + 1, without: excluded), text[end] == UInt8(ascii: closing)
        else { return nil }
        position = skipSpace(end + 1)
        return position < text.count ? position : nil
    }

    /// The position of the first character that is in `excluded`, from `start` to the end of the line. A character after a
    /// backslash is skipped. Nil if the line contains no such character.
    private static func endOfRun(in text: [UInt8], from start: Int, without excluded: String) -> Int? {
        var position = start
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return nil }
            if excluded.utf8.contains(byte) { return position }
            // A backslash at the end of a line escapes nothing, so the line end is not skipped.
            position += byte == UInt8(ascii: "\\") && !isLineEnd(text, position + 1) ? 2 : 1
        }
        return nil
    }

    private static func isLineEnd(_ text: [UInt8], _ position: Int) -> Bool {
        position >= text.count || text[position] == UInt8(ascii: "\n") || text[position] == UInt8(ascii: "\r")
    }
}

extension AttachmentMark {
    /// The path of a file as the target of a link: `Attachments/Rome%202.png`. Characters outside ASCII are not escaped, so that
    /// they stay readable.
    package static func target(of path: String) -> String {
        var result: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case 0x80..., UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                result.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
