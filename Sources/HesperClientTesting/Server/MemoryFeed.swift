internal import HesperModel

/// The position of a reader in the feed of a scope. Clients receive its ``text``.
struct FeedToken: Sendable, Equatable {
    enum Position: Sendable, Equatable {
        /// A position in a first sync, which reads all tags, and then all other objects. Newer tags are read before older tags, and
        /// newer objects before older objects. `start` is the sequence number of the scope when the sync began. If `isAtTags` is
        /// true, the tags with a sequence number of at least `below` have been sent. If it is false, all tags and the other objects
        /// with a sequence number of at least `below` have been sent.
        case first(start: Int64, isAtTags: Bool, below: Int64)
        /// All changes up to this sequence number have been sent.
        case after(Int64)
    }

    var epoch: UInt64
    var scope: Int64
    var position: Position
    /// The number and size of the objects after this position; nil if there are none or if they have not been counted.
    var remaining: FeedSize?

    /// The sequence number up to which the reader is current: each object that the reader has received is in its state at this
    /// sequence number or in a later state.
    var sequence: Int64 {
        switch position {
        case .after(let sequence): sequence
        case .first(let start, _, _): start
        }
    }

    var text: String {
        var numbers: [Int64] = [Int64(bitPattern: epoch), scope]
        switch position {
        case .after(let sequence): numbers += [0, sequence, 0]
        case .first(let start, let isAtTags, let below): numbers += [isAtTags ? 1 : 2, start, below]
        }
        if let remaining { numbers += [Int64(remaining.objects), Int64(remaining.bytes)] }
        return "M" + numbers.map { String($0, radix: 16) }.joined(separator: "_")
    }

    init(epoch: UInt64, scope: Int64, position: Position) {
        (self.epoch, self.scope, self.position) = (epoch, scope, position)
    }

    init?(_ text: String) {
        guard text.utf8.count <= 128, text.first == "M" else { return nil }
        let numbers = text.dropFirst().split(separator: "_").compactMap { Int64($0, radix: 16) }
        guard numbers.count == 5 || numbers.count == 7, numbers[3] >= 0, numbers[4] >= 0 else { return nil }
        epoch = UInt64(bitPattern: numbers[0])
        scope = numbers[1]
        switch numbers[2] {
        case 0: position = .after(numbers[3])
        case 1, 2: position = .first(start: numbers[3], isAtTags: numbers[2] == 1, below: numbers[4])
        default: return nil
        }
        if numbers.count == 7 {
            remaining = FeedSize(objects: Int(clamping: numbers[5]), bytes: Int(clamping: numbers[6]))
        }
        guard self.text == text else { return nil }
    }
}

/// A number of objects, and the size of their JSON in bytes.
struct FeedSize: Sendable, Equatable {
    var objects = 0
    var bytes = 0
}

/// One page of the feed of a scope (protocol.md, Sync).
struct FeedPage {
    private(set) var token: FeedToken
    private(set) var hasMore = false
    private(set) var remaining = FeedSize()
    private let digest: Digest
    private var size = FeedSize()
    /// The JSON of the objects, by section; the last list contains the DeletedObjects.
    private var lists: [[[UInt8]]] = Array(repeating: [], count: Section.allCases.count + 1)

    /// Reads the page that follows a token, or the first page.
    /// - Parameters:
    ///   - limit: the maximum number of objects.
    ///   - bytes: the page ends when it has at least this number of bytes.
    ///   - required: objects that the page contains regardless of the token and the limit.
    ///   - echoes: objects that are left out if they still have these sequence numbers.
    init(
        since token: FeedToken?, of scope: MemoryScope, epoch: UInt64, limit: Int, bytes: Int = Limits.pageBytes,
        including required: [UniqueID] = [], leavingOut echoes: [UniqueID: Int64] = [:]
    ) {
        let start = FeedToken(
            epoch: epoch, scope: scope.id,
            position: .first(start: scope.sequence, isAtTags: true, below: scope.sequence + 1))
        let token = token ?? start
        self.token = token
        digest = scope.digest
        var known = echoes
        for id in required {
            guard let state = scope.states[id], let sequence = state.sequence, known[id] != sequence else { continue }
            put(state)
            known[id] = sequence
        }
        // There are at most three scans: the remaining tags, the remaining other objects, and the changes since the
        // first sync began.
        for _ in 0..<3 {
            fill(from: scope, limit: limit, bytes: bytes, leavingOut: known)
            if hasMore || self.token.position == .after(scope.sequence) { break }
            self.token.position = FeedPage.position(after: self.token.position, of: scope)
        }
        count(before: token, of: scope)
    }

    /// Creates an empty page with a token for the present state.
    init(emptyAt scope: MemoryScope, epoch: UInt64) {
        token = FeedToken(epoch: epoch, scope: scope.id, position: .after(scope.sequence))
        digest = scope.digest
    }

    // MARK: Reading

    private typealias Row = (sequence: Int64, state: ObjectState)

    /// Calls `body` with the rows that follow a position, in their order, until `body` returns false.
    /// - Returns: false if the position is at the end of the feed; true otherwise, even if `body` was not called, for
    ///   example because the account has no tags.
    private static func scan(
        at position: FeedToken.Position, of scope: MemoryScope, _ body: (Row) -> Bool
    ) -> Bool {
        func visit(_ entry: (sequence: Int64, id: UniqueID), _ isIncluded: (ObjectState) -> Bool) -> Bool {
            // Outdated entries, whose objects have changed again since, are skipped.
            guard let state = scope.states[entry.id], state.sequence == entry.sequence, isIncluded(state) else {
                return true
            }
            return body((entry.sequence, state))
        }
        switch position {
        case .after(let sequence):
            guard sequence < scope.sequence else { return false }
            for entry in scope.log[scope.log.partitioningIndex { $0.sequence > sequence }...] {
                guard visit(entry, { _ in true }) else { break }
            }
        case .first(_, let isAtTags, let below):
            for entry in scope.log[..<scope.log.partitioningIndex { $0.sequence >= below }].reversed() {
                guard visit(entry, { $0.isLiveTag == isAtTags }) else { break }
            }
        }
        return true
    }

    private static func position(after position: FeedToken.Position, of scope: MemoryScope) -> FeedToken.Position {
        switch position {
        case .first(let start, true, _): .first(start: start, isAtTags: false, below: start + 1)
        case .first(let start, false, _): .after(start)
        case .after: .after(scope.sequence)
        }
    }

    /// Puts rows on the page until it is full.
    private mutating func fill(
        from scope: MemoryScope, limit: Int, bytes: Int, leavingOut known: [UniqueID: Int64]
    ) {
        _ = FeedPage.scan(at: token.position, of: scope) { row in
            if size.objects >= limit || size.bytes >= bytes {
                hasMore = true
                return false
            }
            switch token.position {
            case .first(let start, let isAtTags, _):
                token.position = .first(start: start, isAtTags: isAtTags, below: row.sequence)
            case .after: token.position = .after(row.sequence)
            }
            if known[row.state.uniqueID] != row.sequence { put(row.state) }
            return true
        }
    }

    private mutating func put(_ state: ObjectState) {
        let body = state.body
        lists[state.list].append(body)
        size.objects += 1
        size.bytes += body.count
    }

    /// Sets the number and size of the objects after this page. For the first of several pages, these objects are counted. The
    /// number and size are then part of the token, and each later page subtracts its own objects from them.
    private mutating func count(before token: FeedToken, of scope: MemoryScope) {
        guard hasMore else {
            self.token.remaining = nil
            return
        }
        if let known = token.remaining {
            remaining = FeedSize(
                objects: max(known.objects - size.objects, 1), bytes: max(known.bytes - size.bytes, 1))
        } else {
            var position = self.token.position
            var size = FeedSize()
            while FeedPage.scan(
                at: position, of: scope,
                { row in
                    size.objects += 1
                    size.bytes += row.state.body.count
                    return true
                })
            {
                position = FeedPage.position(after: position, of: scope)
            }
            remaining = size
        }
        self.token.remaining = remaining
    }

    // MARK: Writing

    /// The JSON of the page.
    /// - Parameter receipts: the results of a push; nil if the response has no results.
    func body(receipts: [Receipt]?, serverClock: Clock) -> [UInt8] {
        var writer = JSONWriter(capacity: size.bytes + 512)
        writer.object { writer in
            if let receipts {
                writer.name("results")
                writer.array { writer in
                    for receipt in receipts { receipt.write(to: &writer) }
                }
            }
            writer.name("changes")
            writer.object { writer in
                for (name, list) in zip(Section.allCases.map(\.name) + ["deletedObjects"], lists) {
                    writer.name(name)
                    writer.array { writer in
                        for body in list { writer.raw(body) }
                    }
                }
            }
            if !hasMore { writer.member("digest", digest.description) }
            writer.member("syncToken", token.text)
            writer.member("hasMore", hasMore)
            writer.name("remaining")
            writer.object { writer in
                writer.member("objects", Int64(remaining.objects))
                writer.member("bytes", Int64(remaining.bytes))
            }
            writer.member("serverClock", serverClock)
        }
        return writer.bytes
    }
}

extension ObjectState {
    fileprivate var uniqueID: UniqueID {
        switch self {
        case .entity(let entity, _): entity.uniqueID
        case .deleted(let deleted, _): deleted.uniqueID
        }
    }

    fileprivate var body: [UInt8] {
        switch self {
        case .entity(let entity, _): entity.body
        case .deleted(let deleted, _): deleted.body
        }
    }

    fileprivate var list: Int {
        switch self {
        case .entity(let entity, _): entity.section.rawValue
        case .deleted: Section.allCases.count
        }
    }

    fileprivate var isLiveTag: Bool {
        if case .entity(.tag, _) = self { true } else { false }
    }
}

extension Array {
    /// The index of the first element for which a predicate is true. The predicate must be false for all elements
    /// before it and true for all elements after it.
    fileprivate func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
