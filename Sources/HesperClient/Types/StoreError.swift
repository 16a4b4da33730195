/// The reason why an operation of the store failed.
public enum StoreError: Error, Sendable, Equatable {
    /// A type is declared in a way that cannot sync. The message names the type and the property.
    case invalidType(String)
    /// A value cannot be stored. The message names the property and the limit.
    case invalidValue(String)
    /// A set would exceed the maximum number of members over its lifetime, which includes removed members. Declare a separate type
    /// instead.
    case tooManyMembers(set: String, limit: Int)
    /// The object does not exist, or was deleted.
    case notFound(objectType: String, id: String)
    /// An object with this ID exists, or was deleted. IDs are not reused.
    case idIsTaken(objectType: String, id: String)
    /// The type was not given when the store was opened.
    case typeNotDeclared(String)
    /// Objects of this type cannot be changed.
    case readOnly(objectType: String)
    /// The search query cannot be used. The message gives the reason.
    case invalidQuery(String)
    /// The local copy was not erased, because it has unsent changes. The associated value is the number of objects with unsent
    /// changes.
    case unsentChanges(Int)
    /// The disk of this device is full.
    case diskFull
    /// The database file was written by a later version of the library.
    case newerVersion
    /// The database file cannot be opened or written, for example because its folder is missing or permission is denied. The
    /// message gives the reason.
    case unavailable(String)
    /// The database file cannot be read. The message gives the reason. ``LocalStore/saveUnsent(in:to:)`` saves unsent changes.
    case damaged(String)
}

extension StoreError: CustomStringConvertible {
    /// A message that states what is wrong and what to do.
    public var description: String {
        switch self {
        case .invalidType(let message), .invalidValue(let message), .invalidQuery(let message): message
        case .tooManyMembers(let set, let limit):
            "\(set) would have more than \(limit) members, including removed ones. "
                + "Declare a type whose objects are the members."
        case .notFound(let type, let id): "The \(type) \(id) does not exist or was deleted."
        case .idIsTaken(let type, let id): "The ID \(id) is used by a \(type) that exists or was deleted. Use a new ID."
        case .typeNotDeclared(let type): "The type \(type) must be passed to LocalStore when the store is opened."
        case .readOnly(let type): "Objects of the type \(type) cannot be changed."
        case .unsentChanges(let count):
            "\(count) objects have changes that were not sent. Sync first, or discard them with signOut(erasing: .always)."
        case .diskFull: "The disk is full. Nothing was written."
        case .newerVersion: "The database was written by a later version of the library. Update the app."
        case .unavailable(let reason):
            "The database cannot be opened or written: \(reason). Check that its folder exists and can be written."
        case .damaged(let reason):
            "The database is damaged: \(reason). Save unsent changes with LocalStore.saveUnsent(in:to:)."
        }
    }
}
