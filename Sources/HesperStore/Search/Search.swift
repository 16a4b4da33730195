import HesperModel

/// What somebody looks for among the notes, and what that may cost.
public struct Search: Sendable, Equatable {
    public enum Order: String, Sendable { case newest, relevance }

    public var query: SearchQuery
    /// Only notes that hold one of these tags (a tag and all that were merged into it).
    public var tags: [UniqueID]?
    public var archived: Bool?
    public var order: Order
    /// Where the page before ended; nil for the first.
    public var start: SearchPosition?
    public var limit: Int
    /// How many notes are read for it at most: past that it is answered as far as it came.
    public var reach: Int
    /// How long it may take: past that too; where nothing was found in that time it is refused.
    public var patience: Duration

    public init(
        query: SearchQuery, tags: [UniqueID]? = nil, archived: Bool? = nil, order: Order = .newest,
        start: SearchPosition? = nil, limit: Int, reach: Int = Limits.searchNotes,
        patience: Duration = .seconds(Limits.searchSeconds)
    ) {
        self.query = query
        self.tags = tags
        self.archived = archived
        self.order = order
        self.start = start
        self.limit = limit
        self.reach = reach
        self.patience = patience
    }

    /// Whether what is most about the query comes first; without words nothing is.
    public var isRanked: Bool { order == .relevance && !query.isEmpty }

    /// How many of those that are found are passed over.
    public var passed: Int {
        if case .past(let count)? = start { count } else { 0 }
    }
}

/// Where a search goes on.
public enum SearchPosition: Sendable, Hashable {
    /// Newest first: behind this note, whatever comes and goes before it.
    case behind(sortDate: Timestamp, note: UniqueID)
    /// By relevance, which has no names for places: behind so many.
    case past(Int)
}

/// A search took as long as it may and had found nothing by then (docs/decisions/0056).
public struct SearchTooCostly: Error, Sendable, Equatable {
    public init() {}
}
