/// How letters leave, as the operator has decided.
public struct MailSettings: Sendable {
    public let command: MailCommand
    public let from: MailAddress
    /// Scheme, host and port under which people reach the server: links begin with it.
    public let origin: String

    public init(command: MailCommand, from: MailAddress, origin: String) {
        self.command = command
        self.from = from
        self.origin = origin
    }
}

/// How many letters there may be.
public struct MailLimits: Sendable {
    /// Of one kind to one e-mail address, whether it has an account or not, before the first wait.
    public var free = 3
    /// That wait, in seconds; each next one is twice as long.
    public var firstWaitSeconds = 10 * 60
    public var longestWaitSeconds = 60 * 60
    /// After how many seconds without a letter the waits begin anew.
    public var forgetSeconds = 24 * 60 * 60
    /// At the wish of one address (of IPv6: one /64 network), before it waits likewise; loopback is free.
    public var freePerAddress = 10
    /// Handed over at once.
    public var atOnce = 2
    /// Waiting for that.
    public var waiting = 256
    /// Seconds that the command has for one.
    public var seconds = 20
    /// Of these, what is left when the server is shut down.
    public var lastSeconds = 5

    public init() {}
}
