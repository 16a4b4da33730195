import Foundation
import HesperModel

/// An e-mail message (RFC 5322). Its lines end with a line feed alone, as mail commands on Unix expect.
struct MailMessage: Sendable {
    let from: MailAddress
    let to: MailAddress
    let subject: String
    /// The text of the message. A line must have at most 998 bytes (RFC 5322, 2.1.1).
    let body: String
    let date: Timestamp
    /// The part of the message ID before the `@`, which must be unique.
    let id: String

    /// The maximum size of a message in bytes. All messages of the server are smaller. Writing a message to an empty pipe does not
    /// block, because a pipe holds at least this many bytes (PIPE_BUF on Linux).
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

    /// Encodes the value of a header. Printable ASCII without `=?` is returned unchanged. Any other text becomes one or more
    /// encoded words (RFC 2047) of at most 75 bytes each. No character is split. Each encoded word after the first is on a new line
    /// that begins with a space.
    static func encoded(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), !text.contains("=?") { return text }
        var words: [[UInt8]] = [[]]
        for character in text {
            let bytes = Array(String(character).utf8)
            // Each encoded word contains at most 45 bytes of text. These are 60 characters of Base64, and the prefix and the suffix
            // add 12 characters.
            if let last = words.last, last.count + bytes.count > 45 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\n ")
    }

    /// Formats a date as a message header does: `Sat, 21 Nov 2026 08:47:12 +0000`
    static func written(_ date: Timestamp) -> String {
        // The date in RFC 3339 form has everything except the weekday. The weekday is counted from 1 January 1970, a Thursday.
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
