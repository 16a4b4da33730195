import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/search`: full-text search with filters and pages (protocol.md, Resources). ``NoteList`` reads its pages with this type.
struct SearchNotes: Resource {
    let backend: Backend
    let indexer: TermIndexer
    private let timeout: Duration
    private let permits: Semaphore<ScopeID>

    init(backend: Backend, indexer: TermIndexer, limits: SearchLimits) {
        self.backend = backend
        self.indexer = indexer
        timeout = limits.timeout
        var permits = limits.permits
        if let pool = backend.store.poolStatus { permits.total = max(1, min(permits.total, pool.limit / 2)) }
        self.permits = .perAccount("searches", permits)
    }

    func add(to routes: inout Routes) {
        routes.get("/v1/search", ["q", "tag", "archived", "sort", "limit", "cursor"], tokens: .read, use: search)
    }

    private func search(_ request: APIRequest, _ session: Session) async throws -> Response {
        let query = try query(request)
        let page = try await page(for: request, session, query: query, order: try order(request)) {
            resolver, note, writer in try write(note, query, resolver, to: &writer)
        }
        return page.response(to: request, named: "results")
    }

    /// Writes a note as an element of a page.
    typealias Element = @Sendable (Resolver, Note, inout JSONWriter) throws -> Void

    /// A page of the notes that match a query and the parameters `tag`, `archived`, `limit` and `cursor` of a request. An access
    /// token that is restricted to a tag finds only notes with this tag.
    func page(
        for request: APIRequest, _ session: Session, query: SearchQuery, order: Search.Order, write: @escaping Element
    ) async throws -> ListPage {
        var search = Search(
            query: query, archived: try request.query.bool("archived"), order: order, limit: try request.limit(),
            timeout: timeout)
        search.start = try start(request, of: search)
        let tag = try tag(request)
        return try await permits.withPermit(session.scope) { [search] in
            try await page(search, tag, session, write)
        }
    }

    private func page(
        _ search: Search, _ tag: UniqueID?, _ session: Session, _ write: @escaping Element
    ) async throws -> ListPage {
        let (scope, restriction) = (session.scope, NoteRestriction(session))
        @Sendable func run(_ snapshot: any Snapshot) throws -> ListPage {
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            var search = search
            let own = try restriction?.tag(in: resolver)
            let requested = try tag.flatMap { try resolver.live($0) }
            let targets = [own, requested].compactMap(\.self)
            if tag != nil, requested == nil {
                search.tags = []
            } else if let first = targets.first {
                search.tags = try resolver.ancestors(of: first)
            }
            var page = try page(search, targets, resolver, upTo: session.head.sequence, write)
            // A token that is restricted to a tag learns only whether any object is not indexed yet. The exact number would show
            // how many objects without the tag have changed.
            if own != nil { page.unindexed = min(page.unindexed, 1) }
            return page
        }
        // The index is updated only after a commit, so the latest changes may have to be indexed first.
        try await indexer.catchUp(scope, to: session.head.sequence)
        return try await backend.store.read(run)
    }

    /// Writes the notes of a page as JSON.
    /// - Parameters:
    ///   - targets: the tags that the notes must have.
    ///   - sequence: the sequence of the scope when the request arrived. The page contains the number of objects up to this
    ///     sequence that are not indexed yet.
    private func page(
        _ search: Search, _ targets: [UniqueID], _ resolver: Resolver, upTo sequence: Int64, _ write: Element
    ) throws -> ListPage {
        let unindexed = try unindexed(upTo: sequence, resolver)
        let page = try resolver.snapshot.search(search, in: resolver.scope)
        var (next, last): (SearchPosition?, SearchPosition?) = (page.next, nil)
        var writer = JSONWriter(capacity: 4_096)
        try writer.array { writer in
            for found in page.found {
                // Writing long notes into the response takes time too. A page therefore also ends when its time limit is reached.
                if let last, writer.bytes.count >= Limits.pageBytes || ContinuousClock.now >= page.end {
                    next = last
                    break
                }
                last = found.position
                // The search checks only the first of up to two required tags. Notes without the second tag are left out here.
                if !targets.isEmpty, try !Set(targets).isSubset(of: resolver.members(of: found.note).tags) { continue }
                try write(resolver, found.note, &writer)
            }
        }
        return ListPage(
            array: writer.bytes, next: next.map { ("cursor", $0.cursor.text) }, unindexed: unindexed)
    }

    /// The number of notes and DeletedObjects up to a sequence that are not in the search index yet.
    private func unindexed(upTo sequence: Int64, _ resolver: Resolver) throws -> Int {
        let indexed = try resolver.snapshot.indexedSequence(of: resolver.scope)
        guard indexed < sequence else { return 0 }
        let rest = Scan(.notes, rows: .all, sequences: indexed + 1...sequence, newestFirst: false)
        return try resolver.snapshot.size(of: rest, in: resolver.scope).objects
    }

    private func write(
        _ note: Note, _ query: SearchQuery, _ resolver: Resolver, to writer: inout JSONWriter
    ) throws {
        let plain = try resolver.plain(.note(note))
        writer.object { writer in
            writer.name("note")
            writer.raw(plain)
            guard !query.isEmpty, let snippet = query.snippet(of: note.text) else { return }
            writer.name("snippet")
            writer.object { writer in
                writer.member("text", snippet.text)
                writer.name("ranges")
                writer.array { writer in
                    for range in snippet.ranges {
                        writer.object { writer in
                            writer.member("location", Int64(range.location))
                            writer.member("length", Int64(range.length))
                        }
                    }
                }
            }
        }
    }

    private func query(_ request: APIRequest) throws(Problem) -> SearchQuery {
        do {
            return try SearchQuery(request.query["q"] ?? "")
        } catch {
            throw Problem(.invalidField, error.description, at: "q")
        }
    }

    private func tag(_ request: APIRequest) throws(Problem) -> UniqueID? {
        guard let text = request.query["tag"] else { return nil }
        guard let id = UniqueID(text) else { throw Problem(.invalidField, "tag must be the ID of a tag.", at: "tag") }
        return id
    }

    private func order(_ request: APIRequest) throws(Problem) -> Search.Order {
        guard let text = request.query["sort"] else { return .newest }
        guard let order = Search.Order(rawValue: text) else {
            throw Problem(.invalidField, "sort must be newest, oldest or relevance.", at: "sort")
        }
        return order
    }

    private func start(_ request: APIRequest, of search: Search) throws(Problem) -> SearchPosition? {
        guard let cursor = try request.cursor(search.isRanked ? 1 : SearchPosition.numbers) else { return nil }
        guard
            let position = search.isRanked
                ? SearchPosition.past(Int(cursor.numbers[0])) : SearchPosition(cursor.numbers)
        else {
            throw Cursor.unknown
        }
        return position
    }
}
