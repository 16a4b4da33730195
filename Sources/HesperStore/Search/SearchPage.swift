import HesperModel

/// A page of a search. Notes are added in order until it is full or has reached a limit on its cost.
public struct SearchPage: Sendable {
    /// A matching note, and the position after it.
    public struct Match: Sendable, Equatable {
        public let note: Note
        public let position: SearchPosition
    }

    private let search: Search
    /// The time at which the timeout ends.
    public let end: ContinuousClock.Instant
    /// The requested tags, sorted and without duplicates; nil for any.
    public let tags: [UniqueID]?
    public private(set) var found: [Match] = []
    /// The position at which the next page begins; nil after the last page.
    public private(set) var next: SearchPosition?
    /// The position of the last examined note.
    private var last: SearchPosition?
    private var examined = 0
    private var bytes = 0

    public init(_ search: Search) {
        self.search = search
        end = .now + search.timeout
        tags = search.tags.map { Set($0).sorted() }
    }

    /// Whether any note has been examined, so that the page makes progress.
    public var hasExamined: Bool { examined > 0 }

    /// Examines the next note from the index and adds it to the page if it matches.
    /// - Parameter note: nil if it no longer exists or does not match.
    /// - Returns: whether to continue.
    public mutating func examine(_ note: Note?, _ position: SearchPosition) -> Bool {
        if let note, holdsTags(note) {
            // A match that does not fit shows that there is another page.
            guard found.count < search.limit, bytes < Limits.pageBytes else {
                next = found.last?.position
                return false
            }
            found.append(Match(note: note, position: position))
            bytes += note.text.utf8.count
        }
        examined += 1
        last = position
        guard examined < search.noteLimit, ContinuousClock.now < end else {
            stop()
            return false
        }
        return true
    }

    /// Ends the page at the last examined note. There may be more.
    public mutating func stop() { next = last }

    /// Whether a note holds the requested tags. The index of members suffices for a single tag. For merged tags, the register
    /// with the greatest clock decides, which only the note has.
    private func holdsTags(_ note: Note) -> Bool {
        guard let tags, tags.count > 1 else { return true }
        return note.tags.holds(oneOf: tags)
    }
}

extension Members {
    /// Whether the register with the greatest clock among these members is true.
    fileprivate func holds(oneOf members: [UniqueID]) -> Bool {
        members.compactMap { self[$0] }.max { $0.clock < $1.clock }?.value ?? false
    }
}
