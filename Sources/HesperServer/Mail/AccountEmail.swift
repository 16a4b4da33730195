import HesperModel
import HesperStore

/// An e-mail about an account, with a one-time link.
struct AccountEmail: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable {
        /// Contains a link to set a new password.
        case passwordReset = "password-reset"
        /// Contains a link to verify the address.
        case emailVerification = "email-verification"
    }

    let kind: Kind
    /// The address, as a client or user entered it.
    let address: String

    /// - Parameter origin: scheme, host and port, as browsers reach it.
    func message(_ code: OneTimeCode, from: MailAddress, to: MailAddress, origin: String, at date: Timestamp)
        -> MailMessage
    {
        let id = String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
        return MailMessage(
            from: from, to: to, subject: kind.subject,
            body: kind.body(link: kind.link.url(code, at: origin), address: to.text, origin: origin), date: date, id: id
        )
    }
}

extension AccountEmail.Kind {
    var purpose: Ticket.Purpose {
        switch self {
        case .passwordReset: .mailedPasswordReset
        case .emailVerification: .emailVerification
        }
    }

    /// The lifetime of its link, in milliseconds.
    var lifetime: Int64 {
        switch self {
        case .passwordReset: Ticket.mailedResetLifetime
        case .emailVerification: Ticket.verificationLifetime
        }
    }

    /// Whether it is sent for an account: a password reset only to a verified address, which is known not to be a stranger's.
    func isSent(for account: Account) -> Bool {
        switch self {
        case .passwordReset: account.emailVerificationDate != nil
        case .emailVerification: account.emailVerificationDate == nil
        }
    }

    fileprivate var link: CodeLink {
        switch self {
        case .passwordReset: .reset
        case .emailVerification: .verification
        }
    }

    fileprivate var subject: String {
        switch self {
        case .passwordReset: "Reset your Hesper password"
        case .emailVerification: "Verify your e-mail address"
        }
    }

    fileprivate func body(link: String, address: String, origin: String) -> String {
        switch self {
        case .passwordReset:
            """
            A new password was requested for the account \(address)
            on the notes server
            \(origin)

            Open this link to set a new password. It works once, within an hour:

            \(link)

            Until then nothing changes. Afterwards, all devices must sign in again;
            they keep their data. If you did not request this, ignore this e-mail,
            and do not pass the link on.
            """
        case .emailVerification:
            """
            An account was created for \(address)
            on the notes server
            \(origin)

            If it is yours, open this link within a day to verify the address:

            \(link)

            After that, the server can send a link to this address if you forget
            your password. If the account is not yours, ignore this e-mail.
            """
        }
    }
}
