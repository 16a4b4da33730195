import Foundation
import HesperServer

/// Checks whether e-mail can be sent.
struct MailDiagnosis {
    let settings: Settings

    /// The findings about sending e-mail. Invalid settings are not among them, because ``SettingsDiagnosis`` reports them.
    func all() -> [Diagnosis] {
        guard let mail = try? settings.mail() else { return [] }
        let program = mail.command.program
        guard mail.command.isThere else {
            return [.wrong("Cannot send e-mail: \(program) is not an executable file for the user \(NSUserName()).")]
        }
        guard mail.origin.hasPrefix("https://") else {
            return [
                .warning("Links in e-mails start with \(mail.origin). Passwords entered there are sent without TLS.")
            ]
        }
        return [.ok("E-mail is sent with \(program). Links in it start with \(mail.origin).")]
    }
}
