/// What a store throws when the reason lies with it and not with what was asked.
public enum StoreError: Error, Sendable, Equatable {
    /// It is away or full, or its disk fails: what was being written is not confirmed; the same may be tried again.
    /// The text is for the log, never for a client.
    case unavailable(String)
}
