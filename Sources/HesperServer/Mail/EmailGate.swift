import HesperModel
import HesperStore

/// Queues e-mails, and limits how many are requested per recipient and per client address. The limits are checked before the
/// account is looked up, so neither the response nor its timing reveals whether an address has an account.
struct EmailGate: Sendable {
    /// Nil if sending e-mail is not configured.
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

    /// Queues an e-mail. Password resets and verifications to the same address are limited separately. Otherwise anyone could
    /// delay the verification of an address by requesting password resets for it.
    /// - Throws: `forbidden` if sending e-mail is not configured; `too-many-requests` if a limit is exceeded or the queue is
    ///   full.
    func send(_ email: AccountEmail, from address: ClientAddress) throws(Problem) {
        guard let mailer else { throw EmailGate.unavailable }
        // The limit of the client is checked first. A request that exceeds this limit does not count against the limit of the
        // recipient.
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

    /// Queues the verification e-mail of a new account. A full queue or an exceeded limit is not an error here, because the owner
    /// of the account can request another e-mail.
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
