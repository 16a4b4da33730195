/// The operator's settings for outgoing mail.
public struct MailSettings: Sendable {
    public let command: MailCommand
    public let from: MailAddress
    /// Scheme, host and port of the server, as browsers reach it. Links in e-mails begin with it.
    public let origin: String

    public init(command: MailCommand, from: MailAddress, origin: String) {
        self.command = command
        self.from = from
        self.origin = origin
    }
}

/// Limits on e-mails.
public struct MailLimits: Sendable {
    /// The number of e-mails of one kind to one address before the first wait, whether or not it has an account.
    public var free = 3
    /// The first wait, in seconds. Each later one is twice as long.
    public var firstWaitSeconds = 10 * 60
    public var longestWaitSeconds = 60 * 60
    /// The time without an e-mail after which the count starts again, in seconds.
    public var forgetSeconds = 24 * 60 * 60
    /// The number of e-mails requested by one client address (of IPv6: one /64 network) before the first wait. Loopback is not
    /// limited.
    public var freePerAddress = 10
    /// The maximum number of e-mails that are being handed over concurrently.
    public var maxConcurrent = 2
    /// The maximum number of e-mails that wait.
    public var waiting = 256
    /// The timeout of the command, in seconds.
    public var seconds = 20
    /// The timeout of the command once the server is shutting down, in seconds.
    public var shutdownSeconds = 5

    public init() {}
}
