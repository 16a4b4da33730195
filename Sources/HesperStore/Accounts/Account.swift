import HesperModel

/// An account: the credentials of a user and the ID of the scope with the user's data.
public struct Account: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// As the user entered it. Lookups use ``Account/key(of:)``.
    public let email: String
    /// The password's hash with its parameters, as text that the store does not interpret.
    public var passwordHash: String
    public let creationDate: Timestamp
    public let scope: ScopeID
    /// The time at which a link sent to the address was used; nil if none was. Password reset links are sent only to verified
    /// addresses.
    public var emailVerificationDate: Timestamp?
    /// The time at which the operator disabled the account; nil if it is enabled. A disabled account accepts neither sign-ins nor
    /// requests of its devices.
    public var disabledSince: Timestamp?

    public init(
        uniqueID: UniqueID, email: String, passwordHash: String, creationDate: Timestamp, scope: ScopeID,
        emailVerificationDate: Timestamp? = nil, disabledSince: Timestamp? = nil
    ) {
        self.uniqueID = uniqueID
        self.email = email
        self.passwordHash = passwordHash
        self.creationDate = creationDate
        self.scope = scope
        self.emailVerificationDate = emailVerificationDate
        self.disabledSince = disabledSince
    }

    /// The key under which an e-mail address is unique: its lower case, so that a user does not create two accounts by accident.
    public static func key(of email: String) -> String { email.lowercased() }

    /// Whether a text has the form of an e-mail address: one `@` with text on both sides, no spaces or control characters, and at
    /// most ``Limits/emailBytes`` bytes. It does not check that the address exists.
    public static func isEmail(_ text: String) -> Bool {
        let halves = text.split(separator: "@", omittingEmptySubsequences: false)
        return halves.count == 2 && halves.allSatisfy { !$0.isEmpty } && text.utf8.count <= Limits.emailBytes
            && text.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && $0.properties.generalCategory != .control
            }
    }
}

/// The size of an account.
public struct Usage: Sendable, Equatable {
    /// The number of live objects of all types.
    public let objects: Int
    /// The size of their JSON in bytes.
    public let bytes: Int
    /// The storage that counts against the quota: all versions of all objects, and attachments.
    public let storage: Storage

    public init(objects: Int, bytes: Int, storage: Storage = Storage()) {
        self.objects = objects
        self.bytes = bytes
        self.storage = storage
    }
}
