import HesperModel

/// A search for notes, with limits on its cost.
public struct Search: Sendable, Equatable {
    public enum Order: String, Sendable { case newest, relevance }

    public var query: SearchQuery
    /// Finds only notes that hold one of these tags: a tag and those that were merged into it.
    public var tags: [UniqueID]?
    public var archived: Bool?
    public var order: Order
    /// The end of the previous page; nil for the first page.
    public var start: SearchPosition?
    /// The maximum number of notes on a page.
    public var limit: Int
    /// The maximum number of notes that are read for a page, which ends early when it is reached.
    public var noteLimit: Int
    /// The maximum duration for a page, which ends early when it is reached. If no note was examined by then, the search fails.
    public var timeout: Duration

    public init(
        query: SearchQuery, tags: [UniqueID]? = nil, archived: Bool? = nil, order: Order = .newest,
        start: SearchPosition? = nil, limit: Int, noteLimit: Int = Limits.searchNotes,
        timeout: Duration = .seconds(Limits.searchSeconds)
    ) {
        self.query = query
        self.tags = tags
        self.archived = archived
        self.order = order
        self.start = start
        self.limit = limit
        self.noteLimit = noteLimit
        self.timeout = timeout
    }

    /// Whether results are ordered by relevance, which requires a query with words.
    public var isRanked: Bool { order == .relevance && !query.isEmpty }

    /// The number of matches that are skipped, in the order of relevance.
    public var passed: Int {
        if case .past(let count)? = start { count } else { 0 }
    }
}

/// The position at which a search continues.
public enum SearchPosition: Sendable, Hashable {
    /// In the order of dates: after this note. Changes before it do not affect the position.
    case behind(sortDate: Timestamp, note: UniqueID)
    /// In the order of relevance: after this number of matches.
    case past(Int)
}

/// The timeout of a search ended before any note was examined (docs/decisions/0056).
public struct SearchTooCostly: Error, Sendable, Equatable {
    public init() {}
}
