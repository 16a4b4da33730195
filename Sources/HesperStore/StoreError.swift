/// A failure of the database, as opposed to an invalid request. The texts are for the log and must not be sent to clients.
public enum StoreError: Error, Sendable, Equatable {
    /// The database cannot be reached, or its disk has failed. The write was not confirmed. It may be retried.
    case unavailable(String)
    /// The disk is full. The write was rolled back. It may be retried when there is free space.
    case full(String)
    /// A later version of Hesper has written the database in a format that this version does not support.
    case newerDatabase(version: Int, known: Int)
    /// A migration from another database to this database has not finished.
    case unfinished
    /// The database contains data that Hesper cannot have written.
    case damaged(String)
    /// The database rejected an operation because of a bug in Hesper.
    case failed(String)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable(let text): "the database is unavailable: \(text)"
        case .full(let text): "the disk is full: \(text)"
        case .newerDatabase(let version, let known):
            "the database has version \(version), written by a later Hesper; this one supports versions up to \(known)"
        case .unfinished:
            "a migration to this database has not finished: run hesper migrate-data again, with the same source"
        case .damaged(let text): "the database is damaged: \(text)"
        case .failed(let text): "the database operation failed: \(text)"
        }
    }
}

extension StoreError {
    /// Whether the database cannot be reached, its disk has failed, or its disk is full. The whole transaction has then failed.
    public var isUnavailable: Bool {
        switch self {
        case .unavailable, .full: true
        default: false
        }
    }
}
