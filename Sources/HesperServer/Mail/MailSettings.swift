/// The operator's settings for outgoing mail.
public struct MailSettings: Sendable {
    public let command: MailCommand
    public let from: MailAddress
    /// The origin (scheme, host and port) of the server as browsers reach it. Links in e-mails begin with it.
    public let origin: String

    public init(command: MailCommand, from: MailAddress, origin: String) {
        self.command = command
        self.from = from
        self.origin = origin
    }
}

/// Limits on the number of e-mails and on the time for sending them.
public struct MailLimits: Sendable {
    /// The number of e-mails of one kind to one address that can be requested without a wait. The limit is the same
    /// whether or not the address has an account.
    public var free = 3
    /// The wait, in seconds, after the last e-mail that can be requested without a wait. Each later wait is twice as long as the
    /// previous one.
    public var firstWaitSeconds = 10 * 60
    /// The maximum wait, in seconds.
    public var longestWaitSeconds = 60 * 60
    /// If no e-mail is requested for this time, in seconds, the count of requested e-mails starts again at 0.
    public var forgetSeconds = 24 * 60 * 60
    /// The number of e-mails that can be requested from one client address without a wait. All IPv6 addresses of a /64
    /// network count as one address. Loopback addresses are not limited.
    public var freePerAddress = 10
    /// The maximum number of mail commands that run at the same time.
    public var maxConcurrent = 2
    /// The maximum number of e-mails in the queue.
    public var waiting = 256
    /// The timeout of a mail command, in seconds.
    public var seconds = 20
    /// The maximum time, in seconds, for which a shutdown waits for running mail commands.
    public var shutdownSeconds = 5

    public init() {}
}
