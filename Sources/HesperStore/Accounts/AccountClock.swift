import HesperModel

/// An account's e-mail address, and the greatest clock of the account's edits.
public struct AccountClock: Sendable, Equatable {
    public let email: String
    public let clock: Clock

    public init(email: String, clock: Clock) {
        self.email = email
        self.clock = clock
    }
}
