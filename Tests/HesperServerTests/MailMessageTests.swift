import Foundation
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// Syntax of messages: no input can add a header or a recipient.
@Suite struct MailMessageTests {
    @Test(arguments: [
        "ada@example.org", "Ada.Lovelace+notes@Example.org", "o'hara@x", "jürgen@müller.example",
        "a!#$%&*/=?^_`{|}~-@b.c",
        "用户@例子.example", "1@2.3",
    ]) func addresses(_ text: String) {
        #expect(Account.isEmail(text), "sign-up accepts it")
        #expect(MailAddress(text)?.text == text)
    }

    /// Sign-up accepts most of these addresses, but no e-mail is sent to them.
    @Test(arguments: [
        "", "ada", "@", "ada@", "@example.org", "a@b@c", "ada@example.org\nBcc: eve@example.org", "ada\r\n@example.org",
        "ada@example.org\u{0}", "ada @example.org", "bob,ada@example.org", "bob;ada@example.org", "<ada@example.org>",
        "ada@example.org>", "ada(x)@example.org", "\"ada\"@example.org", "ada:x@example.org", "ada\\@example.org",
        ".ada@example.org", "ada.@example.org", "a..b@example.org", "ada@example..org", "ada@.org", "ada@example.org.",
        "ada@[192.0.2.1]", "ada@example_org", "ada@exa\u{2028}mple.org", "ada@exa\u{202e}mple.org", "ada\u{85}@b.c",
        "ada\u{feff}@b.c", "😀@b.c", String(repeating: "a", count: 65) + "@b.c",
        "a@" + String(repeating: "b", count: 254),
    ]) func addressesThatCannotBeRecipients(_ text: String) {
        #expect(MailAddress(text) == nil)
    }

    @Test func messageText() throws {
        let date = try #require(Timestamp("2026-11-21T08:47:12.999Z"))
        let message = MailMessage(
            from: try #require(MailAddress("hesper@example.org")), to: try #require(MailAddress("ada@example.com")),
            subject: "A new password", body: "Line\n\n.\nLast", date: date, id: "abc")
        #expect(
            message.text == """
                Date: Sat, 21 Nov 2026 08:47:12 +0000
                Message-ID: <abc@example.org>
                From: Hesper <hesper@example.org>
                To: <ada@example.com>
                Subject: A new password
                Auto-Submitted: auto-generated
                MIME-Version: 1.0
                Content-Type: text/plain; charset=utf-8
                Content-Transfer-Encoding: 7bit

                Line

                .
                Last

                """)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 +0000"),
        ("1969-12-31T23:59:59.999Z", "Wed, 31 Dec 1969 23:59:59 +0000"),
        ("2000-02-29T12:00:00.000Z", "Tue, 29 Feb 2000 12:00:00 +0000"),
        ("2026-11-22T15:30:00.000Z", "Sun, 22 Nov 2026 15:30:00 +0000"),
        ("2031-08-02T07:08:09.000Z", "Sat, 02 Aug 2031 07:08:09 +0000"),
    ]) func dates(_ text: String, _ written: String) throws {
        #expect(MailMessage.written(try #require(Timestamp(text))) == written)
    }

    @Test(arguments: [
        "Grüße", "a\nBcc: eve@example.org", "a\r\n\r\nbody", "=?utf-8?B?QQ==?=", "tab\t", "\u{7f}",
        String(repeating: "жизнь 👨‍👩‍👧‍👦 ", count: 20),
    ]) func subjectsThatAreEncoded(_ subject: String) throws {
        let encoded = MailMessage.encoded(subject)
        #expect(encoded.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
        var decoded = ""
        for line in encoded.split(separator: "\n", omittingEmptySubsequences: false) {
            let word = line.drop { $0 == " " }
            #expect(word.count <= 75 && word.hasPrefix("=?utf-8?B?") && word.hasSuffix("?="))
            #expect(decoded.isEmpty || line.hasPrefix(" "), "a continuation line begins with a space")
            let data = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
            // Each encoded word consists of whole characters.
            decoded += try #require(String(data: data, encoding: .utf8))
        }
        #expect(decoded == subject)
    }

    @Test func plainSubjectsAreUnchanged() {
        #expect(MailMessage.encoded("A new password, 100% ?=") == "A new password, 100% ?=")
        #expect(MailMessage.encoded("") == "")
    }

    @Test(arguments: AccountEmail.Kind.allCases) func emailsFitIntoAPipe(_ kind: AccountEmail.Kind) throws {
        let code = OneTimeCode.random()
        // Even with the longest addresses, the message fits into a pipe, with short lines of ASCII.
        let origin = "https://" + String(repeating: "a", count: 250)
        let to = try #require(MailAddress(String(repeating: "b", count: 60) + "@" + String(repeating: "c", count: 190)))
        let from = try #require(
            MailAddress(String(repeating: "d", count: 60) + "@" + String(repeating: "e", count: 190)))
        let message = AccountEmail(kind: kind, address: "x").message(code, from: from, to: to, origin: origin, at: .now)
        #expect(message.text.utf8.count <= MailMessage.bytes)
        #expect(message.body.split(separator: "\n").allSatisfy { $0.utf8.count <= 998 })
        let lines = message.body.split(separator: "\n").filter { $0.contains(code.text) }
        #expect(lines.count == 1 && lines.allSatisfy { $0.hasPrefix("\(origin)/") }, "the link is on a line of its own")
        #expect(message.subject == MailMessage.encoded(message.subject))
        let other = AccountEmail(kind: kind, address: "x").message(code, from: from, to: to, origin: origin, at: .now)
        #expect(message.id != other.id)
    }
}
