import Testing

@testable import HesperMoveIn

@Suite("Reading e-mail messages")
struct MailMessageTests {
    private func message(_ text: String) throws -> MailMessage {
        let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
        return try MailMessage(bytes) { "HTML(\($0))" }
    }

    @Test("A plain message has a subject and a text")
    func plain() throws {
        let message = try message(
            """
            Received: from somewhere
            Message-ID: <1@example.org>
            Subject: Shopping
             list
            Content-Type: text/plain; charset=utf-8

            Milk
            Bread


            """)
        #expect(message.subject == "Shopping list")
        #expect(message.text == "Milk\nBread")
        #expect(message.messageID == "1@example.org")
        #expect(message.attachments == [])
    }

    @Test(
        "Subjects with encoded words",
        arguments: [
            ("=?utf-8?q?Gr=C3=BC=C3=9Fe_aus?= Rom", "Grüße aus Rom"), ("=?UTF-8?B?R3LDvMOfZQ==?=", "Grüße"),
            ("=?iso-8859-1?Q?Gr=FC=DFe?= =?iso-8859-1?q?_!?=", "Grüße !"),
            // A character is split between two words.
            ("=?utf-8?b?w58=?= =?utf-8?q?=C3?=\n =?utf-8?q?=BC?=", "ßü"), ("=?koi8-r?B?8NLJ18XU?=", "Привет"),
            ("=?utf-8*de?q?a?=", "a"), ("=?nonsense?q?a=C3=BC?=", "aü"), ("=?utf-8?x?a?=", "=?utf-8?x?a?="),
            ("a =?b c", "a =?b c"), ("=?utf-8?q?no end", "=?utf-8?q?no end"), ("", ""),
        ])
    func subjects(_ field: String, _ subject: String) throws {
        #expect(try message("Subject: \(field)\n\ntext").subject == subject)
    }

    @Test(
        "Transfer encodings and character sets",
        arguments: [
            ("quoted-printable", "utf-8", "Gr=C3=BC=\n=C3=9Fe =3D x=  \ny=zz", "Grüße = xy=zz"),
            ("base64", "utf-8", "R3LD\nvMOf!ZQ==", "Grüße"), ("8BIT", "utf-8", "Grüße", "Grüße"),
            ("quoted-printable", "windows-1252", "=80 5", "€ 5"), ("quoted-printable", "iso-8859-1", "=93a=94", "“a”"),
            ("quoted-printable", "us-ascii", "=FC", "ü"), ("base64", "shift_jis", "k/qWew==", "日本"),
            ("quoted-printable", "unknown-8bit", "=C3=BC", "ü"),
            ("quoted-printable", "utf-16be", "=00a=D8", "a\u{fffd}"),
        ])
    func encodings(_ encoding: String, _ charset: String, _ body: String, _ text: String) throws {
        let message = try message(
            "Content-Type: text/plain; charset=\"\(charset)\"\nContent-Transfer-Encoding: \(encoding)\n\n\(body)")
        #expect(message.text == text)
    }

    private static let alternatives = """
        Subject: x
        Content-Type: multipart/alternative; boundary="b 1"

        preamble
        --b 1
        Content-Type: text/plain

        PLAIN
        --b 1
        Content-Type: text/html

        <p>html</p>
        --b 1--
        epilogue
        """

    @Test("Of two alternatives the plain text is used, unless it is blank")
    func alternatives() throws {
        #expect(try message(MailMessageTests.alternatives).text == "PLAIN")
        let blank = MailMessageTests.alternatives.replacing("PLAIN", with: " \n")
        #expect(try message(blank).text == "HTML(<p>html</p>)")
    }

    @Test("Files are attachments, with their names")
    func attachments() throws {
        let message = try message(
            """
            Content-Type: multipart/mixed; boundary=outer

            --outer
            Content-Type: multipart/related; boundary=outer-inner

            --outer-inner
            Content-Type: text/html

            <img>
            --outer-inner
            Content-Type: image/png
            Content-ID: <1>
            Content-Transfer-Encoding: base64

            AAEC
            --outer-inner--
            --outer
            Content-Type: text/plain; name="notes.txt"
            Content-Disposition: attachment

            attached text
            --outer
            Content-Type: application/pdf
            Content-Disposition: attachment; filename*0*=utf-8''Gr%C3%BC; filename*1="ße.pdf"

            %PDF
            --outer
            Content-Type: application/zip
            Content-Disposition: attachment; filename="../../etc/a\\"b.zip"; filename*=iso-8859-1''%FC.zip

            PK
            --outer
            Content-Type: message/rfc822

            Subject: forwarded

            inner
            --outer
            Content-Type: text/plain

            the end
            """)
        #expect(message.text == "HTML(<img>)\n\nthe end")
        let files = message.attachments
        #expect(files.map(\.filename) == [nil, "notes.txt", "Grüße.pdf", "ü.zip", nil])
        #expect(
            files.map(\.mediaType) == [
                "image/png", "text/plain", "application/pdf", "application/zip", "message/rfc822",
            ])
        #expect(files[0].bytes == [0, 1, 2])
        #expect(String(decoding: files[1].bytes, as: UTF8.self) == "attached text")
        #expect(String(decoding: files[4].bytes, as: UTF8.self) == "Subject: forwarded\r\n\r\ninner")
    }

    @Test(
        "Names of files have no folders and control characters",
        arguments: [
            ("a/b/c.txt", "c.txt"), ("C:\\\\x\\\\c.txt", "c.txt"), ("a\tb.txt", "ab.txt"), ("..", nil), ("/", nil),
            ("", nil),
            ("=?utf-8?q?=C3=BC.txt?=", "ü.txt"),
        ] as [(String, String?)])
    func filenames(_ name: String, _ expected: String?) throws {
        let message = try message("Content-Type: application/x; name=\"\(name)\"\n\nx")
        #expect(message.attachments.map(\.filename) == [expected])
    }

    @Test("Lines that the sender broke are joined")
    func flowed() throws {
        let flowed = "a \nb\n c\n>> q \n>> r\n> s\n-- \nme "
        let header = "Content-Type: text/plain; format=flowed"
        #expect(try message("\(header)\n\n\(flowed)").text == "a b\nc\n>> q r\n> s\n-- \nme ")
        #expect(try message("\(header); DelSp=Yes\n\na \nb").text == "ab")
    }

    @Test("A message with too many parts, or parts in parts, is refused")
    func limits() throws {
        func parts(_ count: Int) -> String {
            "Content-Type: multipart/mixed; boundary=b\n\n"
                + String(repeating: "--b\n\nx\n", count: count) + "--b--"
        }
        #expect(try message(parts(99)).text.count > 99)
        #expect(throws: MailError("The message has more than 100 parts.")) { try message(parts(100)) }
        func nested(_ depth: Int) -> String {
            guard depth > 1 else { return "\ninnermost" }
            return
                "Content-Type: multipart/mixed; boundary=b\(depth)\n\n--b\(depth)\n\(nested(depth - 1))\n--b\(depth)--"
        }
        #expect(try message(nested(10)).text == "innermost")
        #expect(throws: MailError("The parts of the message are nested more than 10 levels deep.")) {
            try message(nested(12))
        }
        #expect(throws: MailError("The message has no header fields.")) { try message("\nonly a body") }
        let long = "Subject: " + String(repeating: "x", count: 256 << 10) + "\n\n"
        #expect(throws: MailError("The header of the message has more than 262144 bytes.")) { try message(long) }
        let large = [UInt8](repeating: 0x61, count: MailMessage.maximumBytes + 1)
        #expect(throws: MailError("The message has more than 26214400 bytes.")) { try MailMessage(large) { $0 } }
    }

    @Test("Random bytes do not end the process", arguments: 1...200 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) throws {
        var state = seed &* 0x9e37_79b9_7f4a_7c15
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let pieces = [
            "Content-Type: ", "multipart/mixed", "; boundary=b", "\r\n", "\r\n\r\n", "--b", "--b--", "=?utf-8?q?", "?=",
            "=",
            "\"", "\\", "filename*0*=", "'", "%", "Content-Disposition: attachment", ";", "Subject: ", "\u{0}", "ü",
            " ",
            "Content-Transfer-Encoding: base64\r\n", "text/html", "name=", ">", "charset=utf-7", "format=flowed",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<next(200) {
            bytes += next(8) == 0 ? [UInt8(next(256))] : Array(pieces[next(pieces.count)].utf8)
        }
        _ = try? MailMessage(bytes) { $0 }
    }
}
