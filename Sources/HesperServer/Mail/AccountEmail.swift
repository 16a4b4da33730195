import HesperModel
import HesperStore

/// An e-mail to the address of an account, with a link that works once.
struct AccountEmail: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable {
        /// Contains a link to set a new password.
        case passwordReset = "password-reset"
        /// Contains a link to verify the address.
        case emailVerification = "email-verification"
    }

    let kind: Kind
    /// The address as a client sent it. It may belong to no account.
    let address: String

    /// Writes the message with a one-time code.
    /// - Parameters:
    ///   - code: the one-time code in the link.
    ///   - origin: the scheme, host and port at which browsers reach the server.
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

    /// How long the link in the e-mail is valid, in milliseconds.
    var lifetime: Int64 {
        switch self {
        case .passwordReset: Ticket.mailedResetLifetime
        case .emailVerification: Ticket.verificationLifetime
        }
    }

    /// Whether an e-mail of this kind may be sent to the account. A password reset is sent only to a verified address, because an
    /// unverified address may belong to a stranger. A verification is sent only while the address is unverified.
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
