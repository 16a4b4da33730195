import HesperModel

/// What a search has found so far, filled with notes in their order until it has enough.
public struct SearchPage {
    private let search: Search
    private var bytes = 0
    private var passed = 0
    public private(set) var notes: [Note] = []
    /// The tags that are looked for, each once; nil for any.
    public let tags: [UniqueID]?

    public init(_ search: Search) {
        self.search = search
        tags = search.tags.map { Set($0).sorted() }
    }

    /// Whether an index of members tells by itself who holds the tags: of several that came to be one, the greatest clock
    /// decides, which only the notes themselves tell.
    public var isExact: Bool { (tags?.count ?? 0) <= 1 }

    /// Whether what comes next is only passed over.
    public var isPassing: Bool { passed < search.offset }

    /// Passes over a note without a look at it: where ``isExact`` holds.
    public mutating func pass() { passed += 1 }

    /// Takes the next note in.
    /// - Returns: whether there is room for more.
    public mutating func take(_ note: Note) -> Bool {
        if !isExact, let tags, !note.tags.holds(oneOf: tags) { return true }
        if isPassing {
            passed += 1
            return true
        }
        notes.append(note)
        // One more than fills a page tells that there are more.
        guard bytes < Limits.pageBytes else { return false }
        bytes += note.text.utf8.count
        return notes.count < search.limit
    }
}

extension Members {
    /// Whether the register with the greatest clock, of those of these members, says in.
    fileprivate func holds(oneOf members: [UniqueID]) -> Bool {
        members.compactMap { self[$0] }.max { $0.clock < $1.clock }?.value ?? false
    }
}
