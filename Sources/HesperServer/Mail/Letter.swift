import HesperModel
import HesperStore

/// What is sent to people: a link that is good once.
struct Letter: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable {
        /// Leads to a new password.
        case passwordReset = "password-reset"
        /// Says that the address is theirs.
        case emailVerification = "email-verification"
    }

    let kind: Kind
    /// The address of the account that it is about, as somebody typed it.
    let email: String

    /// - Parameter origin: scheme, host and port, as people reach the server.
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

extension Letter.Kind {
    var purpose: Ticket.Purpose {
        switch self {
        case .passwordReset: .mailedPasswordReset
        case .emailVerification: .emailVerification
        }
    }

    /// How long its link is good, in milliseconds.
    var lifetime: Int64 {
        switch self {
        case .passwordReset: Ticket.mailedResetLifetime
        case .emailVerification: Ticket.verificationLifetime
        }
    }

    /// Whether an account gets it: links to a new password go to no address that might be a stranger's.
    func isFor(_ account: Account) -> Bool {
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
        case .passwordReset: "A new password for Hesper"
        case .emailVerification: "Is this your e-mail address?"
        }
    }

    fileprivate func body(link: String, address: String, origin: String) -> String {
        switch self {
        case .passwordReset:
            """
            Somebody, most likely you, asked for a new password for the account of
            \(address) on the notes server
            \(origin)

            Whoever opens this link sets one, once, within an hour:

            \(link)

            Until then everything stays as it is. Then every device signs in again,
            and keeps what it holds. If you did not ask for it, do nothing, and give
            the link to nobody.
            """
        case .emailVerification:
            """
            There is an account for \(address)
            on the notes server
            \(origin)

            If it is yours, open this link within a day, and say so:

            \(link)

            From then on the server sends a link to this address when you have
            forgotten your password. If it is not yours, do nothing.
            """
        }
    }
}
