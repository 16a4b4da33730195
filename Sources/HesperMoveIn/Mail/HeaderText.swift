/// Decodes the text of header fields, which may contain encoded words (RFC 2047).
enum HeaderText {
    /// The text of a header line. Header lines must be ASCII, but if a line contains other bytes, they are decoded as UTF-8 or
    /// Windows-1252.
    static func text(_ line: ArraySlice<UInt8>) -> String { Charset.text(line, charset: "") }

    /// Decodes encoded words such as `=?utf-8?q?Gr=C3=BC=C3=9Fe?=`. White space between two encoded words is removed.
    static func decoded(_ text: String) -> String {
        var result = ""
        // The bytes of adjacent encoded words in the same character set. They are decoded together, because a character may be
        // split between two words.
        var pending: (bytes: [UInt8], charset: String)?
        func flush() {
            if let word = pending { result += Charset.text(word.bytes[...], charset: word.charset) }
            pending = nil
        }
        var rest = Substring(text)
        while let start = rest.firstRange(of: "=?") {
            let before = rest[..<start.lowerBound]
            guard let word = Word(rest[start.lowerBound...]) else {
                flush()
                result += rest[..<start.upperBound]
                rest = rest[start.upperBound...]
                continue
            }
            if pending == nil || !before.allSatisfy(\.isWhitespace) {
                flush()
                result += before
            }
            if pending?.charset == word.charset {
                pending?.bytes += word.bytes
            } else {
                flush()
                pending = (word.bytes, word.charset)
            }
            rest = word.rest
        }
        flush()
        return result + rest
    }

    private struct Word {
        let charset: String
        let bytes: [UInt8]
        let rest: Substring

        init?(_ text: Substring) {
            let parts = text.dropFirst(2).split(separator: "?", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, let end = parts[2].firstRange(of: "?=") else { return nil }
            let encoded = parts[2][..<end.lowerBound]
            guard !encoded.contains(where: \.isWhitespace), !parts[0].isEmpty else { return nil }
            // The name of a language may follow the character set (RFC 2231). It is removed.
            charset = parts[0].prefix { $0 != "*" }.lowercased()
            switch parts[1].lowercased() {
            case "b": bytes = TransferEncoding.base64(Array(encoded.utf8)[...])
            case "q":
                let spaced = encoded.utf8.map { $0 == UInt8(ascii: "_") ? 0x20 : $0 }
                bytes = TransferEncoding.quotedPrintable(spaced[...])
            default: return nil
            }
            rest = parts[2][end.upperBound...]
        }
    }
}
