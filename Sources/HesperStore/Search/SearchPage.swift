import HesperModel

/// A page of search results. Notes are added in the order of the results until the page is full or a limit on its cost is
/// reached.
public struct SearchPage: Sendable {
    /// A note that matches the search, and the position at which the search continues after this note.
    public struct Match: Sendable, Equatable {
        public let note: Note
        public let position: SearchPosition
    }

    private let search: Search
    /// The time at which the timeout of the search expires.
    public let end: ContinuousClock.Instant
    /// The tags of the search, sorted and without duplicates; nil for no restriction.
    public let tags: [UniqueID]?
    public private(set) var found: [Match] = []
    /// The position at which the next page begins; nil if there are no more results.
    public private(set) var next: SearchPosition?
    /// The position after the note that was examined most recently.
    private var last: SearchPosition?
    private var examined = 0
    private var bytes = 0

    public init(_ search: Search) {
        self.search = search
        end = .now + search.timeout
        tags = search.tags.map { Set($0).sorted() }
    }

    /// Whether any note has been examined. If none has been examined, the next page would begin at the same position.
    public var hasExamined: Bool { examined > 0 }

    /// Examines the next note from the index and adds it to the page if the note matches.
    /// - Parameter note: the note; nil if it no longer exists or does not match the query.
    /// - Returns: whether the caller should continue with the next note.
    public mutating func examine(_ note: Note?, _ position: SearchPosition) -> Bool {
        if let note, holdsTags(note) {
            // If the page is already full, this match shows that there is another page.
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

    /// Ends the page after the note that was examined most recently. There may be more results.
    public mutating func stop() { next = last }

    /// Whether a note holds the requested tag. If no tags were merged into this tag, the index of members has already shown that
    /// the note holds it. Otherwise, the note's registers for this tag and the merged tags are compared: the register with the
    /// greatest clock decides. The registers are read from the note, because the index does not contain them.
    private func holdsTags(_ note: Note) -> Bool {
        guard let tags, tags.count > 1 else { return true }
        return note.tags.holds(oneOf: tags)
    }
}

extension Members {
    /// Whether the set contains a tag that has several IDs, because other tags were merged into it. The most recent edit of any of
    /// these IDs decides.
    fileprivate func holds(oneOf members: [UniqueID]) -> Bool {
        members.compactMap { self[$0] }.max { $0.clock < $1.clock }?.value ?? false
    }
}
