import HesperModel

/// Reads the changes since a token, one page at a time (protocol.md, Sync).
///
/// A first sync returns the live tags and then all other objects that existed when it began, both in descending order of sequence
/// numbers. It ends with the changes that were made since it began. These changes, and all pages of later syncs, are in ascending
/// order.
public struct Feed: Sendable {
    public let selection: Selection
    /// The maximum number of objects on a page.
    public let limit: Int
    /// A page ends when it contains at least this number of bytes of objects.
    public let bytes: Int
    /// The objects that the reader itself has just pushed, with their sequence numbers after the push. If the current sequence
    /// number of an object equals the number given here, the object is left out of the page, because the reader already has it.
    public var echoes: [UniqueID: Int64] = [:]

    public init(
        _ selection: Selection, limit: Int = Limits.defaultPage, bytes: Int = Limits.pageBytes,
        echoes: [UniqueID: Int64] = [:]
    ) {
        self.selection = selection
        self.limit = min(max(limit, 1), Limits.greatestPage)
        self.bytes = bytes
        self.echoes = echoes
    }

    /// Checks that a token is valid for this feed and for the scope of `head`.
    /// - Throws: ``Problem`` `token-expired` if the reader must sync again without a token, `invalid-field` if the token belongs
    ///   to another feed.
    public func check(_ token: SyncToken, epoch: UInt64, head: ScopeHead) throws(Problem) {
        guard token.epoch == epoch, token.scope == head.scope else {
            throw Problem(
                .tokenExpired,
                "This token is from another installation, or from before a restore. \(Feed.remedyForExpiredToken)")
        }
        guard token.selection == SyncToken.fingerprint(selection) else {
            throw Problem(
                .invalidField,
                "This token belongs to a feed with other types of objects. Store a separate token for each feed.")
        }
        guard token.sequence <= head.sequence else {
            throw Problem(
                .tokenExpired,
                """
                This token is newer than the data of the server, which was replaced with an older copy. \
                \(Feed.remedyForExpiredToken)
                """)
        }
    }

    private static let remedyForExpiredToken =
        "Keep all local data, sync again without a token, and push the changes that the server does not have."

    /// Returns an empty page if nothing has changed since the token; nil otherwise. This needs no query.
    public func emptyPage(since token: SyncToken, head: ScopeHead) -> Page? {
        guard token.position == .after(head.sequence) else { return nil }
        return Page(token: token, head: head)
    }

    /// Returns an empty page with a token for the current head of the scope.
    public func emptyPage(at head: ScopeHead, epoch: UInt64) -> Page {
        Page(
            token: SyncToken(
                epoch: epoch, scope: head.scope, selection: selection, position: .after(head.sequence)),
            head: head)
    }

    /// Reads the page that follows a token, or the first page if `token` is nil. What remains after the page is not counted
    /// (``Page/count(in:)``).
    /// - Parameter required: objects that the page contains regardless of the token and the limit.
    public func page(
        since token: SyncToken?, of scope: ScopeID, epoch: UInt64, including required: [UniqueID] = [],
        in snapshot: any Snapshot, into sink: inout some PageSink
    ) throws -> Page {
        let head = try Feed.head(of: scope, in: snapshot)
        if let token { try check(token, epoch: epoch, head: head) }
        var page = Page(
            token: SyncToken(
                epoch: epoch, scope: scope, selection: selection, position: token?.position ?? Feed.start(head)),
            head: head)
        let requiredSequences = try put(required, on: &page, in: snapshot, into: &sink)
        // At most three scans follow each other: for the remaining tags, for the remaining other objects, and for the changes since
        // the first sync began.
        for _ in 0..<3 {
            guard let scan = scan(at: page.token.position, head: head) else { break }
            if try fill(&page, with: scan, leavingOut: requiredSequences, in: snapshot, into: &sink) {
                page.hasMore = true
                break
            }
            page.token.position = position(after: page.token.position, head: head)
        }
        return page
    }

    /// The scan that continues at a position; nil if there is nothing left to read.
    private func scan(at position: SyncToken.Position, head: ScopeHead) -> Scan? {
        switch position {
        case .after(let sequence):
            guard sequence < head.sequence else { return nil }
            return Scan(selection, rows: .all, sequences: sequence + 1...head.sequence, newestFirst: false)
        case .first(_, let rows, let below):
            return Scan(
                selection, rows: rows == .tags ? .tagsOnly : .withoutTags, sequences: 0...max(below - 1, 0),
                newestFirst: true)
        }
    }

    private func position(after position: SyncToken.Position, head: ScopeHead) -> SyncToken.Position {
        switch position {
        case .first(let start, .tags, _): .first(start: start, rows: .others, below: start + 1)
        case .first(let start, .others, _): .after(start)
        case .after: .after(head.sequence)
        }
    }

    /// Puts the required objects on the page, because the scan may not reach them.
    private func put(
        _ ids: [UniqueID], on page: inout Page, in snapshot: any Snapshot, into sink: inout some PageSink
    ) throws -> [UniqueID: Int64] {
        var sequences: [UniqueID: Int64] = [:]
        for id in ids where sequences[id] == nil {
            switch try snapshot.state(of: id, in: page.head.scope) {
            case .entity(let entity, let sequence?)?:
                page.put(entity.body, .object(entity.section), into: &sink)
                sequences[id] = sequence
            case .deleted(let deleted, let sequence)?:
                page.put(deleted.body, .deletedObject, into: &sink)
                sequences[id] = sequence
            case .entity(_, nil)?, nil: break
            }
        }
        return sequences
    }

    /// Puts the rows of a scan on the page until the page is full.
    /// - Returns: whether the scan has more rows.
    private func fill(
        _ page: inout Page, with scan: Scan, leavingOut required: [UniqueID: Int64], in snapshot: any Snapshot,
        into sink: inout some PageSink
    ) throws -> Bool {
        let known = echoes.merging(required) { $1 }
        var isFull = false
        var last: Int64?
        var scan = scan
        scan.needsIDs = !known.isEmpty
        // The objects in `known` are left out of the page, if the scan returns them. So the scan reads as many rows as there are
        // such objects and free places on the page. One additional row shows whether there is another page.
        scan.limit = known.count + max(limit - page.size.objects, 0) + 1
        try snapshot.scan(scan, in: page.head.scope) { row in
            if page.size.objects >= limit || page.size.bytes >= bytes {
                isFull = true
                return false
            }
            last = row.sequence
            if !known.isEmpty, let id = row.id(), known[id] == row.sequence {
                if required[id] == nil { page.leaveOut(row) }
            } else {
                page.put(row.body, row.kind, into: &sink)
            }
            return true
        }
        if let last {
            switch page.token.position {
            case .first(let start, let rows, _): page.token.position = .first(start: start, rows: rows, below: last)
            case .after: page.token.position = .after(last)
            }
        }
        return isFull
    }

    /// The number and the total size of the objects that follow a token, or of all objects of the feed if the token is nil. This
    /// reads an index of all these objects.
    public func size(since token: SyncToken?, of scope: ScopeID, in snapshot: any Snapshot) throws -> ScanSize {
        let head = try Feed.head(of: scope, in: snapshot)
        var size = ScanSize.none
        for scan in remainingScans(at: token?.position ?? Feed.start(head), head: head) {
            let part = try snapshot.size(of: scan, in: scope)
            size.objects += part.objects
            size.bytes += part.bytes
        }
        return size
    }

    private static func head(of scope: ScopeID, in snapshot: any Snapshot) throws -> ScopeHead {
        guard let head = try snapshot.head(of: scope) else {
            throw Problem(.unauthenticated, "The account was deleted.")
        }
        return head
    }

    private static func start(_ head: ScopeHead) -> SyncToken.Position {
        .first(start: head.sequence, rows: .tags, below: head.sequence + 1)
    }

    private func remainingScans(at position: SyncToken.Position, head: ScopeHead) -> [Scan] {
        var scans: [Scan] = []
        var position = position
        while let scan = scan(at: position, head: head) {
            scans.append(scan)
            position = self.position(after: position, head: head)
        }
        return scans
    }
}

extension Page {
    fileprivate mutating func leaveOut(_ row: ScanRow) {
        leftOut.objects += 1
        leftOut.bytes += row.body.count
    }

    fileprivate mutating func put(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind, into sink: inout some PageSink)
    {
        sink.append(body, kind)
        size.objects += 1
        size.bytes += body.count
    }

    fileprivate mutating func put(_ body: [UInt8], _ kind: ScanRow.Kind, into sink: inout some PageSink) {
        body.withUnsafeBytes { put($0, kind, into: &sink) }
    }
}
