import HesperServer

extension Settings {
    /// How letters are sent; nil if the operator has named no command for them.
    func mail() throws -> MailSettings? {
        let sender = try reader.string(.mailFrom)
        guard let found = try reader.string(.sendmail) else {
            if let sender {
                throw sender.wrong("a sender needs a command that sends: set \(Setting.sendmail.flag) too.")
            }
            return nil
        }
        guard let command = MailCommand(found.value) else {
            throw found.wrong(
                "the whole path of a program is wanted, and its arguments, such as /usr/sbin/sendmail -t -i, not \"\(found.value)\"."
            )
        }
        guard let sender else {
            throw found.wrong("letters need a sender: set \(Setting.mailFrom.flag) too.")
        }
        guard let from = MailAddress(sender.value) else {
            throw sender.wrong(
                "an e-mail address alone is wanted, such as hesper@example.org, not \"\(sender.value)\".")
        }
        guard let origin = try url() else {
            throw found.wrong(
                "links in letters need to know where people reach the server: set \(Setting.url.flag) too.")
        }
        return MailSettings(command: command, from: from, origin: origin)
    }
}
