import Foundation
import HesperModel

/// A message as RFC 5322 has it, with the lines that a command on Unix takes: they end with a line feed.
struct MailMessage: Sendable {
    let from: MailAddress
    let to: MailAddress
    let subject: String
    /// Lines of at most 998 bytes.
    let body: String
    let date: Timestamp
    /// What no other message has: before the `@` of its ID.
    let id: String

    /// More than a message of ours can need, and no more than a pipe takes at once, whatever its size (POSIX's PIPE_BUF).
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

    /// A text for a header: as it is if it is printable ASCII, else in encoded words, each of whole characters and at most 75 long
    /// (RFC 2047). Either way nothing in it ends the line.
    static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), !text.contains("=?") { return text }
        var words: [[UInt8]] = [[]]
        for character in text {
            let bytes = Array(String(character).utf8)
            // 45 bytes are 60 letters in Base 64, and 12 stand around them.
            if let last = words.last, last.count + bytes.count > 45 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\n ")
    }

    /// `Sat, 21 Nov 2026 08:47:12 +0000`
    static func written(_ date: Timestamp) -> String {
        // RFC 3339 in UTC has all of it but the weekday: 1970 began on a Thursday.
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
