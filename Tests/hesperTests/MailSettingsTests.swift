import Testing

@testable import hesper

/// Letters need a command, a sender and an address for their links.
@Suite struct MailSettingsTests {
    @Test func mailNeedsACommandASenderAndAnAddressForLinks() throws {
        let all = [
            "HESPER_SENDMAIL": "/usr/sbin/sendmail -t", "HESPER_MAIL_FROM": "hesper@example.org",
            "HESPER_URL": "https://notes.example.org",
        ]
        #expect(try Settings(environment: [:]).mail() == nil)
        #expect(try Settings(environment: all).mail() != nil)
        for (changes, why) in [
            (["HESPER_SENDMAIL": ""], "HESPER_MAIL_FROM: a sender needs a command that sends: set --sendmail too."),
            (["HESPER_MAIL_FROM": ""], "HESPER_SENDMAIL: letters need a sender: set --mail-from too."),
            (["HESPER_URL": ""], "HESPER_SENDMAIL: links in letters need to know where"),
            (["HESPER_SENDMAIL": "sendmail -t"], "HESPER_SENDMAIL: the whole path of a program is wanted"),
            (["HESPER_MAIL_FROM": "Hesper <a@b.c>"], "HESPER_MAIL_FROM: an e-mail address alone is wanted"),
            (["HESPER_MAIL_FROM": "a@b.c\nBcc: d@e.f"], "HESPER_MAIL_FROM: an e-mail address alone is wanted"),
        ] {
            let environment = all.merging(changes) { $1 }
            let told = complaint { _ = try Settings(environment: environment).server() }
            #expect(told?.hasPrefix(why) == true, "\(told ?? "it is taken")")
        }
    }
}
