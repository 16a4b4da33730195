import HesperModel
import HesperStore

/// Where letters are asked for: how many go to one e-mail address, and at the wish of one place, is decided before anybody looks
/// whether there is an account. So the answer is the same, and takes as long, for an address that has one and one that has not.
struct MailDesk: Sendable {
    /// Nil where no mail is sent.
    private let mailer: Mailer?
    private let limits: MailLimits
    private let emails: KeyedBackoff
    private let addresses: KeyedBackoff

    init(mailer: Mailer?, limits: MailLimits) {
        self.mailer = mailer
        self.limits = limits
        let backoff = Backoff(first: .seconds(limits.firstWaitSeconds), longest: .seconds(limits.longestWaitSeconds))
        emails = KeyedBackoff(backoff, lifetime: .seconds(limits.forgetSeconds))
        addresses = KeyedBackoff(backoff, lifetime: .seconds(limits.forgetSeconds))
    }

    var isOpen: Bool { mailer != nil }

    /// Each kind of letter has limits of its own: anybody asks for a link to a new password, which goes nowhere while the address is
    /// not verified, and the owner who wants to verify it must not wait for that.
    /// - Throws: `forbidden` where no mail is sent; `too-many-requests`.
    func ask(_ letter: Letter, from address: ClientAddress) throws(Problem) {
        guard let mailer else { throw MailDesk.closed }
        // The place first: one that has to wait uses up nothing of somebody else's.
        if !address.isLoopback, let seconds = addresses.take(address.key, free: limits.freePerAddress) {
            throw .tooManyRequests("Too many letters were asked for from here.", retryAfter: seconds)
        }
        if let seconds = emails.take(MailDesk.key(of: letter), free: limits.free) {
            throw .tooManyRequests("Too many such letters were asked for to this address.", retryAfter: seconds)
        }
        guard mailer.post(letter) else {
            throw .tooManyRequests("Too many letters wait to be sent.", retryAfter: 60)
        }
    }

    /// The first letter of a new account; where it cannot be sent, its owner asks for another.
    func welcome(_ email: String) {
        let letter = Letter(kind: .emailVerification, email: email)
        guard let mailer, emails.take(MailDesk.key(of: letter), free: limits.free) == nil else { return }
        _ = mailer.post(letter)
    }

    private static func key(of letter: Letter) -> String { "\(letter.kind.rawValue) \(Account.key(of: letter.email))" }

    private static let closed = Problem(.forbidden, "This server sends no mail: ask its operator.")
}
