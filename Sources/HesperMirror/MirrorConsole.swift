/// The output and the input of the command `hesper sync`.
public struct MirrorConsole: Sendable {
    /// Prints a result.
    public var show: @Sendable (String) -> Void
    /// Prints a warning.
    public var warn: @Sendable (String) -> Void
    /// Asks a question and reads a line; nil if there is no terminal or no input.
    public var ask: @Sendable (String) -> String?
    /// Asks for a secret; nil if there is no terminal or no input.
    public var askSecretly: @Sendable (String) -> String?

    public init(
        show: @escaping @Sendable (String) -> Void, warn: @escaping @Sendable (String) -> Void,
        ask: @escaping @Sendable (String) -> String?, askSecretly: @escaping @Sendable (String) -> String?
    ) {
        (self.show, self.warn, self.ask, self.askSecretly) = (show, warn, ask, askSecretly)
    }
}

/// The options of the command line of `hesper sync`.
public struct MirrorOptions: Sendable {
    public var folder: String
    public var server: String?
    public var email: String?
    /// The password of `--password-file`; nil if there is none.
    public var password: String?
    public var isOnce = false
    public var isDryRun = false
    /// Whether the plan of the first run is carried out without a question.
    public var isAccepted = false
    public var isPullOnly = false
    public var confirmsDeletions = false
    public var takesOver = false

    public init(folder: String) { self.folder = folder }
}
