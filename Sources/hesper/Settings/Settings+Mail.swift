import HesperServer

extension Settings {
    /// The settings for sending e-mail. Nil if no command for sending is set.
    func mail() throws -> MailSettings? {
        let sender = try reader.string(.mailFrom)
        guard let found = try reader.string(.sendmail) else {
            if let sender {
                throw sender.failure(
                    "a sender address requires a command for sending. Set \(Setting.sendmail.flag) too.")
            }
            return nil
        }
        guard let command = MailCommand(found.value) else {
            throw found.failure(
                "must be the absolute path of a program with its arguments, such as /usr/sbin/sendmail -t -i, not \"\(found.value)\"."
            )
        }
        guard let sender else {
            throw found.failure("e-mail requires a sender address. Set \(Setting.mailFrom.flag) too.")
        }
        guard let from = MailAddress(sender.value) else {
            throw sender.failure(
                "must be an e-mail address without a name, such as hesper@example.org, not \"\(sender.value)\".")
        }
        guard let origin = try url() else {
            throw found.failure(
                "links in e-mails require the public URL of the server. Set \(Setting.url.flag) too.")
        }
        return MailSettings(command: command, from: from, origin: origin)
    }
}
