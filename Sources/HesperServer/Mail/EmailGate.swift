import HesperModel
import HesperStore

/// Accepts e-mails to be sent, and limits them per recipient and per client address. This happens before the account is looked
/// up, so the response and its time do not reveal whether an address has an account.
struct EmailGate: Sendable {
    /// Nil if no mail is configured.
    private let mailer: Mailer?
    private let limits: MailLimits
    private let recipients: KeyedBackoff
    private let clients: KeyedBackoff

    init(mailer: Mailer?, limits: MailLimits) {
        self.mailer = mailer
        self.limits = limits
        let backoff = Backoff(first: .seconds(limits.firstWaitSeconds), longest: .seconds(limits.longestWaitSeconds))
        recipients = KeyedBackoff(backoff, lifetime: .seconds(limits.forgetSeconds))
        clients = KeyedBackoff(backoff, lifetime: .seconds(limits.forgetSeconds))
    }

    var isAvailable: Bool { mailer != nil }

    /// Queues an e-mail. Each kind has separate limits: anyone can request password resets for an address, which must not delay
    /// its owner's verification.
    /// - Throws: `forbidden` if no mail is configured; `too-many-requests`.
    func send(_ email: AccountEmail, from address: ClientAddress) throws(Problem) {
        guard let mailer else { throw EmailGate.unavailable }
        // The client first: a client that must wait does not use up attempts of the recipient.
        if !address.isLoopback, let seconds = clients.take(address.key, free: limits.freePerAddress) {
            throw .tooManyRequests("Too many e-mails were requested from this address.", retryAfter: seconds)
        }
        if let seconds = recipients.take(EmailGate.key(of: email), free: limits.free) {
            throw .tooManyRequests("Too many e-mails to this address were requested.", retryAfter: seconds)
        }
        guard mailer.enqueue(email) else {
            throw .tooManyRequests("Too many e-mails are waiting to be sent.", retryAfter: 60)
        }
    }

    /// Queues the verification e-mail of a new account. If it cannot be sent, the owner can request another.
    func sendVerification(to address: String) {
        let email = AccountEmail(kind: .emailVerification, address: address)
        guard let mailer, recipients.take(EmailGate.key(of: email), free: limits.free) == nil else { return }
        _ = mailer.enqueue(email)
    }

    private static func key(of email: AccountEmail) -> String {
        "\(email.kind.rawValue) \(Account.key(of: email.address))"
    }

    private static let unavailable = Problem(.forbidden, "This server sends no e-mail. Ask its operator.")
}
