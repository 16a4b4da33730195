/// The operator's settings for outgoing mail.
public struct MailSettings: Sendable {
    public let command: MailCommand
    public let from: MailAddress
    /// The scheme, host and port at which browsers reach the server. Links in e-mails begin with it.
    public let origin: String

    public init(command: MailCommand, from: MailAddress, origin: String) {
        self.command = command
        self.from = from
        self.origin = origin
    }
}

/// Limits on how many e-mails are requested and sent, and on how long sending may take.
public struct MailLimits: Sendable {
    /// How many e-mails of one kind to one address can be requested before requests must wait. The limit is the same whether or
    /// not the address has an account.
    public var free = 3
    /// How long requests must wait at first, in seconds. Each later waiting time is twice as long, up to ``longestWaitSeconds``.
    public var firstWaitSeconds = 10 * 60
    public var longestWaitSeconds = 60 * 60
    /// How many seconds must pass without a request for an e-mail until the count starts again at zero.
    public var forgetSeconds = 24 * 60 * 60
    /// How many e-mails can be requested from one client address before requests must wait. All IPv6 addresses of a /64 network
    /// count as one address. Loopback addresses are not limited.
    public var freePerAddress = 10
    /// The maximum number of mail commands that run at the same time.
    public var maxConcurrent = 2
    /// The maximum number of e-mails in the queue.
    public var waiting = 256
    /// The timeout of a mail command, in seconds.
    public var seconds = 20
    /// The time that running mail commands have to finish when the server shuts down, in seconds.
    public var shutdownSeconds = 5

    public init() {}
}
