/// What a store throws when the reason lies with it and not with what was asked. The texts are for the log, never for a client.
public enum StoreError: Error, Sendable, Equatable {
    /// It is away, or its disk fails: what was being written is not confirmed; the same may be tried again.
    case unavailable(String)
    /// There is no room: what was being written is not kept; the same may be tried again when there is.
    case full(String)
    /// A later version of Hesper has written it; this one would misread it.
    case newerDatabase(version: Int, known: Int)
    /// It is being filled with what another database holds, and that has not come to its end.
    case unfinished
    /// What it holds is not what it ever wrote.
    case damaged(String)
    /// It was asked for something that it can not do: a mistake in Hesper.
    case failed(String)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable(let text): "the store is unavailable: \(text)"
        case .full(let text): "the disk is full: \(text)"
        case .newerDatabase(let version, let known):
            "the database has version \(version), written by a later Hesper; this one knows versions up to \(known)"
        case .unfinished:
            "the database is only partly filled: do hesper migrate-data again, from the same source, until it has come to its end"
        case .damaged(let text): "the database is damaged: \(text)"
        case .failed(let text): "the store failed: \(text)"
        }
    }
}

extension StoreError {
    /// Whether the store itself is away, so that nothing else in the same transaction can be trusted to it.
    public var isUnavailable: Bool {
        switch self {
        case .unavailable, .full: true
        default: false
        }
    }
}
