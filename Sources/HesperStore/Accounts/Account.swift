import HesperModel

/// An account: the credentials of a user and the ID of the scope with the user's data.
public struct Account: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// The e-mail address as the user entered it. Lookups use ``Account/key(of:)``.
    public let email: String
    /// The hash of the password and the parameters of the hash function. The store does not parse this text.
    public var passwordHash: String
    public let creationDate: Timestamp
    public let scope: ScopeID
    /// The time at which the user followed a verification link sent to the e-mail address; nil if the address is not verified.
    /// Password reset links are sent only to verified addresses.
    public var emailVerificationDate: Timestamp?
    /// The time at which the operator disabled the account; nil if the account is enabled. While an account is disabled, its user
    /// cannot sign in, and requests of its devices are refused.
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

    /// The key of an e-mail address, which is the address in lower case. No two accounts have the same key. Therefore two accounts
    /// cannot have addresses that differ only in case.
    public static func key(of email: String) -> String { email.lowercased() }

    /// Whether a text has the form of an e-mail address: one `@` with text on both sides, no spaces or control characters, and at
    /// most ``Limits/emailBytes`` bytes. This function does not check whether the address exists.
    public static func isEmail(_ text: String) -> Bool {
        let halves = text.split(separator: "@", omittingEmptySubsequences: false)
        return halves.count == 2 && halves.allSatisfy { !$0.isEmpty } && text.utf8.count <= Limits.emailBytes
            && text.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && $0.properties.generalCategory != .control
            }
    }
}

/// The amount of data of an account.
public struct Usage: Sendable, Equatable {
    /// The number of live objects of all types.
    public let objects: Int
    /// The total size of the JSON of all live objects, in bytes.
    public let bytes: Int
    /// The storage that counts against the quota. It includes all stored edits of all objects, and attachments.
    public let storage: Storage

    public init(objects: Int, bytes: Int, storage: Storage = Storage()) {
        self.objects = objects
        self.bytes = bytes
        self.storage = storage
    }
}
