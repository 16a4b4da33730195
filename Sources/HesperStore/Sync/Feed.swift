import HesperModel

/// Reads what changed since a token, a page at a time (protocol.md, Sync).
///
/// A first sync comes newest first, live tags before all: pages go down from the sequence at which it began, then what
/// changed since that moment follows. After it, pages go up.
public struct Feed: Sendable {
    public let selection: Selection
    /// Objects a page at most.
    public let limit: Int
    /// Bytes of objects past which a page ends.
    public let bytes: Int
    /// The sender's own echoes: left out where nobody has changed them since.
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

    /// Refuses a token that was not given out for this feed of this scope.
    /// - Throws: ``Problem`` `token-expired` if the reader must start over, `invalid-field` if it is of another feed.
    public func check(_ token: SyncToken, epoch: UInt64, head: ScopeHead) throws(Problem) {
        guard token.epoch == epoch, token.scope == head.scope else {
            throw Problem(
                .tokenExpired,
                "This token is of another installation, or from before it was restored: keep everything, read from the start, and push what is missing."
            )
        }
        guard token.selection == SyncToken.fingerprint(selection) else {
            throw Problem(
                .invalidField, "This token was given out for a feed of other kinds of objects: keep them apart.")
        }
        guard token.sequence <= head.sequence else {
            throw Problem(
                .tokenExpired,
                "This token is ahead of the server, whose data was replaced by an older copy: keep everything, read from the start, and push what is missing."
            )
        }
    }

    /// A page that says that nothing changed, if that is so: no look at the store is needed for it.
    public func emptyPage(since token: SyncToken, head: ScopeHead) -> Page? {
        guard token.position == .after(head.sequence) else { return nil }
        return Page(token: token, head: head)
    }

    /// The page of whoever knows everything up to here.
    public func emptyPage(at head: ScopeHead, epoch: UInt64) -> Page {
        Page(
            token: SyncToken(
                epoch: epoch, scope: head.scope, selection: selection, position: .after(head.sequence)),
            head: head)
    }

    /// The page after a token, or the first one.
    /// - Parameter demanded: objects that are on it, whatever token and limit say.
    public func page(
        since token: SyncToken?, of scope: ScopeID, epoch: UInt64, including demanded: [UniqueID] = [],
        in snapshot: any Snapshot, into sink: inout some PageSink
    ) throws -> Page {
        guard let head = try snapshot.head(of: scope) else { throw Problem(.unauthenticated, "The account is gone.") }
        if let token { try check(token, epoch: epoch, head: head) }
        let start = SyncToken.Position.first(start: head.sequence, rows: .tags, below: head.sequence + 1)
        let token = token ?? SyncToken(epoch: epoch, scope: scope, selection: selection, position: start)
        var page = Page(token: token, head: head)
        let demandedSequences = try demand(demanded, on: &page, in: snapshot, into: &sink)
        // At most: the rest of the tags, the rest of the others, what changed since.
        for _ in 0..<3 {
            guard let scan = scan(at: page.token.position, head: head) else { break }
            if try fill(&page, with: scan, leavingOut: demandedSequences, in: snapshot, into: &sink) {
                page.hasMore = true
                break
            }
            page.token.position = position(after: page.token.position, head: head)
        }
        try count(&page, before: token, in: snapshot)
        return page
    }

    /// What is still to be read at a position; nil if that is nothing.
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

    /// Puts objects on the page that the scan may not come to.
    private func demand(
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

    /// Puts what a scan gives on the page, until that is full.
    /// - Returns: whether something is left of the scan.
    private func fill(
        _ page: inout Page, with scan: Scan, leavingOut demanded: [UniqueID: Int64], in snapshot: any Snapshot,
        into sink: inout some PageSink
    ) throws -> Bool {
        let known = echoes.merging(demanded) { $1 }
        var isFull = false
        var last: Int64?
        var scan = scan
        // Those that are left out, those that fit, and one more, which tells that there are more.
        scan.limit = known.count + max(limit - page.amount.objects, 0) + 1
        try snapshot.scan(scan, in: page.head.scope) { row in
            if page.amount.objects >= limit || page.amount.bytes >= bytes {
                isFull = true
                return false
            }
            last = row.sequence
            if known.isEmpty || row.id().flatMap({ known[$0] }) != row.sequence {
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

    /// What is left: counted once when a run of pages begins, then carried in the token, as counting again for every page
    /// would cost as much as the pages.
    private func count(_ page: inout Page, before token: SyncToken, in snapshot: any Snapshot) throws {
        guard page.hasMore else {
            page.token.remaining = nil
            return
        }
        if let known = token.remaining {
            page.remaining = ScanSize(
                objects: max(known.objects - page.amount.objects, 1), bytes: max(known.bytes - page.amount.bytes, 1))
        } else {
            for scan in scansLeft(at: page.token.position, head: page.head) {
                let amount = try snapshot.size(of: scan, in: page.head.scope)
                page.remaining.objects += amount.objects
                page.remaining.bytes += amount.bytes
            }
        }
        page.token.remaining = page.remaining
    }

    private func scansLeft(at position: SyncToken.Position, head: ScopeHead) -> [Scan] {
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
    fileprivate mutating func put(_ body: UnsafeRawBufferPointer, _ kind: ScanRow.Kind, into sink: inout some PageSink)
    {
        sink.append(body, kind)
        amount.objects += 1
        amount.bytes += body.count
    }

    fileprivate mutating func put(_ body: [UInt8], _ kind: ScanRow.Kind, into sink: inout some PageSink) {
        body.withUnsafeBytes { put($0, kind, into: &sink) }
    }
}
