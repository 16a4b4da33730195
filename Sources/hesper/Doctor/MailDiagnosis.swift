import Foundation
import HesperServer

/// Whether letters can be sent.
struct MailDiagnosis {
    let settings: Settings

    /// What is wrong with the settings themselves ``SettingsDiagnosis`` says.
    func all() -> [Diagnosis] {
        guard let mail = try? settings.mail() else { return [] }
        let program = mail.command.program
        guard mail.command.isThere else {
            return [.wrong("No letter can be sent: \(program) is no program that the user \(NSUserName()) may run.")]
        }
        guard mail.origin.hasPrefix("https://") else {
            return [
                .warning("Links in letters begin with \(mail.origin): whoever uses one sends a password without TLS.")
            ]
        }
        return [.ok("Letters are handed to \(program), and their links begin with \(mail.origin).")]
    }
}
