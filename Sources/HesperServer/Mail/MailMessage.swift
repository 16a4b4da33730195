import Foundation
import HesperModel

/// A message (RFC 5322) with line feeds as line ends, as commands on Unix expect.
struct MailMessage: Sendable {
    let from: MailAddress
    let to: MailAddress
    let subject: String
    /// Lines of at most 998 bytes.
    let body: String
    let date: Timestamp
    /// The unique part of the message ID, before the `@`.
    let id: String

    /// The maximum size in bytes: more than any message needs, and at most what a pipe always accepts without a reader (POSIX's
    /// PIPE_BUF).
    static let bytes = 4_096

    var text: String {
        """
        Date: \(MailMessage.written(date))
        Message-ID: <\(id)@\(from.domain)>
        From: Hesper <\(from.text)>
        To: <\(to.text)>
        Subject: \(MailMessage.encoded(subject))
        Auto-Submitted: auto-generated
        MIME-Version: 1.0
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: \(body.utf8.allSatisfy { $0 < 0x80 } ? "7bit" : "8bit")

        \(body)

        """
    }

    /// Encodes a header: unchanged if it is printable ASCII, else as encoded words of whole characters, each at most 75 bytes
    /// long (RFC 2047). The result contains no line break except folds.
    static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), !text.contains("=?") { return text }
        var words: [[UInt8]] = [[]]
        for character in text {
            let bytes = Array(String(character).utf8)
            // 45 bytes are 60 characters in Base64, with 12 around them.
            if let last = words.last, last.count + bytes.count > 45 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\n ")
    }

    /// Formats a date: `Sat, 21 Nov 2026 08:47:12 +0000`
    static func written(_ date: Timestamp) -> String {
        // RFC 3339 in UTC contains everything except the weekday. 1 January 1970 was a Thursday.
        let text = date.description
        let day = Int((Double(date.milliseconds) / Double(Timestamp.day)).rounded(.down))
        let weekday = weekdays[((day + 4) % 7 + 7) % 7]
        let month = Int(text.dropFirst(5).prefix(2)).map { months[$0 - 1] } ?? ""
        return
            "\(weekday), \(text.dropFirst(8).prefix(2)) \(month) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) +0000"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
