import Testing

@testable import hesper

/// E-mail requires a command, a sender address and a public URL.
@Suite struct MailSettingsTests {
    @Test func mailRequiresCommandSenderAndURL() throws {
        let all = [
            "HESPER_SENDMAIL": "/usr/sbin/sendmail -t", "HESPER_MAIL_FROM": "hesper@example.org",
            "HESPER_URL": "https://notes.example.org",
        ]
        #expect(try Settings(environment: [:]).mail() == nil)
        #expect(try Settings(environment: all).mail() != nil)
        for (changes, reason) in [
            (
                ["HESPER_SENDMAIL": ""],
                "HESPER_MAIL_FROM: a sender address requires a command for sending. Set --sendmail too."
            ),
            (["HESPER_MAIL_FROM": ""], "HESPER_SENDMAIL: e-mail requires a sender address. Set --mail-from too."),
            (["HESPER_URL": ""], "HESPER_SENDMAIL: links in e-mails require the public URL"),
            (["HESPER_SENDMAIL": "sendmail -t"], "HESPER_SENDMAIL: must be the absolute path of a program"),
            (["HESPER_MAIL_FROM": "Hesper <a@b.c>"], "HESPER_MAIL_FROM: must be an e-mail address"),
            (["HESPER_MAIL_FROM": "a@b.c\nBcc: d@e.f"], "HESPER_MAIL_FROM: must be an e-mail address"),
        ] {
            let environment = all.merging(changes) { $1 }
            let message = settingsError { _ = try Settings(environment: environment).server() }
            #expect(message?.hasPrefix(reason) == true, "\(message ?? "no error")")
        }
    }
}
