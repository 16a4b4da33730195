import HesperModel

/// Somebody who may sign in, and the scope that is theirs.
public struct Account: Sendable, Equatable {
    public let uniqueID: UniqueID
    /// As it was typed; looked up by ``Account/key(of:)``.
    public let email: String
    /// The password's hash with its parameters, in text: the store does not look inside.
    public var passwordHash: String
    public let creationDate: Timestamp
    public let scope: ScopeID
    /// When somebody used a link that was sent to the address; nil while nobody did. Links to a new password go to no other.
    public var emailVerificationDate: Timestamp?
    /// When the operator disabled the account; nil if nobody did. Then nobody can sign in, and no device is served.
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

    /// What two spellings of one e-mail address have in common: its lower case, so that nobody has two accounts by accident.
    public static func key(of email: String) -> String { email.lowercased() }

    /// Whether it could be an e-mail address: one `@` with something on both sides, and nothing that no address has.
    /// Whether it works, only a letter tells.
    public static func isEmail(_ text: String) -> Bool {
        let halves = text.split(separator: "@", omittingEmptySubsequences: false)
        return halves.count == 2 && halves.allSatisfy { !$0.isEmpty } && text.utf8.count <= Limits.emailBytes
            && text.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && $0.properties.generalCategory != .control
            }
    }
}

/// How much an account holds.
public struct Usage: Sendable, Equatable {
    /// Live objects of all types.
    public let objects: Int
    /// Their bytes of JSON.
    public let bytes: Int
    /// What counts against the quota: all versions of all objects, and attachments.
    public let storage: Storage

    public init(objects: Int, bytes: Int, storage: Storage = Storage()) {
        self.objects = objects
        self.bytes = bytes
        self.storage = storage
    }
}
