import HesperModel

/// A search for notes, with limits on the cost of each page.
public struct Search: Sendable, Equatable {
    public enum Order: String, Sendable { case newest, oldest, relevance }

    public var query: SearchQuery
    /// The requested tag and all tags that were merged into it. Only notes that hold at least one of these tags are found. Nil to
    /// find notes regardless of their tags.
    public var tags: [UniqueID]?
    public var archived: Bool?
    public var order: Order
    /// The position at which the previous page ended; nil for the first page.
    public var start: SearchPosition?
    /// The maximum number of notes on a page.
    public var limit: Int
    /// The maximum number of notes that are read for a page. When this number is reached, the page ends even if it is not full.
    public var noteLimit: Int
    /// The maximum duration of the search for one page. When it is reached, the page ends even if it is not full. If no note has
    /// been examined by then, the search fails.
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

    /// Whether results are ordered by relevance. This requires a query with words.
    public var isRanked: Bool { order == .relevance && !query.isEmpty }

    /// The number of matches on previous pages, which are skipped; 0 if results are not ordered by relevance.
    public var passed: Int {
        if case .past(let count)? = start { count } else { 0 }
    }
}

/// The position in the results at which a search continues.
public enum SearchPosition: Sendable, Hashable {
    /// For results ordered by date: continue after this note. If notes before this note change, the position remains correct.
    case behind(sortDate: Timestamp, note: UniqueID)
    /// For results ordered by relevance: continue after this number of matches.
    case past(Int)
}

/// The error for a search whose timeout ended before any note was examined (docs/decisions/0056).
public struct SearchTooCostly: Error, Sendable, Equatable {
    public init() {}
}
