import HesperModel

/// A page of a search, filled with notes in their order until it has enough, or has cost enough.
public struct SearchPage: Sendable {
    /// A note, and where the search goes on behind it.
    public struct Found: Sendable, Equatable {
        public let note: Note
        public let position: SearchPosition
    }

    private let search: Search
    /// When it has taken as long as it may.
    public let end: ContinuousClock.Instant
    /// The tags that are looked for, each once; nil for any.
    public let tags: [UniqueID]?
    public private(set) var found: [Found] = []
    /// Where the next page begins; nil behind the last.
    public private(set) var next: SearchPosition?
    /// The last that was looked at.
    private var last: SearchPosition?
    private var looked = 0
    private var bytes = 0

    public init(_ search: Search) {
        self.search = search
        end = .now + search.timeout
        tags = search.tags.map { Set($0).sorted() }
    }

    /// Whether it has come to anything, so that there is something to answer.
    public var hasExamined: Bool { looked > 0 }

    /// Looks at the next that the index found; nil if that is no longer there, or is not what was asked for after all.
    /// - Returns: whether to go on.
    public mutating func look(at note: Note?, _ position: SearchPosition) -> Bool {
        if let note, holdsTags(note) {
            // One more than fits tells that there are more.
            guard found.count < search.limit, bytes < Limits.pageBytes else {
                next = found.last?.position
                return false
            }
            found.append(Found(note: note, position: position))
            bytes += note.text.utf8.count
        }
        looked += 1
        last = position
        guard looked < search.noteLimit, ContinuousClock.now < end else {
            stop()
            return false
        }
        return true
    }

    /// Ends the page where it stands, though there may be more.
    public mutating func stop() { next = last }

    /// An index of members tells by itself who holds a tag; of several that came to be one, the greatest clock decides, which
    /// only the notes themselves tell.
    private func holdsTags(_ note: Note) -> Bool {
        guard let tags, tags.count > 1 else { return true }
        return note.tags.holds(oneOf: tags)
    }
}

extension Members {
    /// Whether the register with the greatest clock, of those of these members, says in.
    fileprivate func holds(oneOf members: [UniqueID]) -> Bool {
        members.compactMap { self[$0] }.max { $0.clock < $1.clock }?.value ?? false
    }
}
