import HesperModel

/// The permissions of an access token. An access token is a ``Device`` that a script uses. Like every device it has a node, so its
/// edits can be reverted, and histories contain its name.
public struct TokenAccess: Sendable, Equatable {
    /// A permission of an access token. A token can use a route only if one of its permissions allows the route (protocol.md,
    /// Access tokens).
    public enum Scope: String, Sendable, CaseIterable {
        /// Allows creating notes and adding text to notes, but not reading anything.
        case append
        case read
        /// Allows reading and changing all data of the account. Includes the permissions `append` and `read`.
        case write
    }

    public let scopes: Set<Scope>
    /// The time from which the token is invalid; nil if it does not expire.
    public let expiryDate: Timestamp?
    /// The tag of the notes that the token can use; nil if the token can use all notes.
    public let tag: UniqueID?

    public init(_ scopes: Set<Scope>, expiryDate: Timestamp? = nil, tag: UniqueID? = nil) {
        self.scopes = scopes
        self.expiryDate = expiryDate
        self.tag = tag
    }

    public func allows(_ scope: Scope) -> Bool { scopes.contains(scope) || scopes.contains(.write) }

    public func isExpired(at date: Timestamp) -> Bool { expiryDate.map { $0 <= date } ?? false }

    /// The names of the token's permissions, separated by spaces. The database stores this text.
    public var scopeNames: String { scopes.map(\.rawValue).sorted().joined(separator: " ") }

    /// Creates the permissions from their stored names. Unknown names are ignored. A later version of Hesper may have stored them.
    public init(scopeNames: String, expiryDate: Timestamp?, tag: UniqueID?) {
        let scopes = scopeNames.split(separator: " ").compactMap { Scope(rawValue: String($0)) }
        self.init(Set(scopes), expiryDate: expiryDate, tag: tag)
    }
}
