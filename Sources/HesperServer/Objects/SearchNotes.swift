import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/search`: full text, filters, pages, for thin clients and scripts (protocol.md, Resources).
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
        routes.get("/v1/search", ["q", "tag", "archived", "sort", "limit", "cursor"], use: search)
    }

    private func search(_ call: Call, _ session: Session) async throws -> Response {
        var search = Search(
            query: try query(call), archived: try call.query.bool("archived"), order: try order(call),
            limit: try call.limit(), timeout: timeout)
        search.start = try start(call, of: search)
        let tag = try tag(call)
        return .json(try await permits.withPermit(session.scope) { [search] in try await body(search, tag, session) })
    }

    private func body(_ search: Search, _ tag: UniqueID?, _ session: Session) async throws -> [UInt8] {
        let scope = session.scope
        @Sendable func answer(_ snapshot: any Snapshot) throws -> [UInt8] {
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            var search = search
            let target = try tag.map { try resolver.live($0) }
            search.tags = try target.map { try $0.map { try resolver.ancestors(of: $0) } ?? [] }
            return try page(search, target ?? nil, resolver, upTo: session.head.sequence)
        }
        // The index is filled behind the commits.
        try await indexer.catchUp(scope, to: session.head.sequence)
        return try await backend.store.read(answer)
    }

    /// - Parameters:
    ///   - target: the tag that is looked for.
    ///   - sequence: where the scope stood when the search came: the answer tells how much of that is not indexed.
    private func page(
        _ search: Search, _ target: UniqueID?, _ resolver: Resolver, upTo sequence: Int64
    ) throws -> [UInt8] {
        let unindexed = try unindexed(upTo: sequence, resolver)
        let page = try resolver.snapshot.search(search, in: resolver.scope)
        var (next, last): (SearchPosition?, SearchPosition?) = (page.next, nil)
        var writer = JSONWriter(capacity: 4_096)
        try writer.object { writer in
            writer.name("results")
            try writer.array { writer in
                for found in page.found {
                    // Long notes take their time to be written, too.
                    if let last, writer.bytes.count >= Limits.pageBytes || ContinuousClock.now >= page.end {
                        next = last
                        break
                    }
                    last = found.position
                    // The index knows every register; a note that has the tag no more is left out here.
                    if let target, try !resolver.members(of: found.note).tags.contains(target) { continue }
                    try write(found.note, search.query, resolver, to: &writer)
                }
            }
            if let next { writer.member("nextCursor", next.cursor.text) }
            if unindexed > 0 { writer.member("unindexed", Int64(unindexed)) }
        }
        return writer.bytes
    }

    /// How many notes and DeletedObjects the index of terms lacks; counted in an index of the database.
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

    private func query(_ call: Call) throws(Problem) -> SearchQuery {
        do {
            return try SearchQuery(call.query["q"] ?? "")
        } catch {
            throw Problem(.invalidField, error.description, at: "q")
        }
    }

    private func tag(_ call: Call) throws(Problem) -> UniqueID? {
        guard let text = call.query["tag"] else { return nil }
        guard let id = UniqueID(text) else { throw Problem(.invalidField, "tag is the ID of a tag.", at: "tag") }
        return id
    }

    private func order(_ call: Call) throws(Problem) -> Search.Order {
        guard let text = call.query["sort"] else { return .newest }
        guard let order = Search.Order(rawValue: text) else {
            throw Problem(.invalidField, "sort is newest or relevance.", at: "sort")
        }
        return order
    }

    private func start(_ call: Call, of search: Search) throws(Problem) -> SearchPosition? {
        guard let cursor = try call.cursor(search.isRanked ? 1 : SearchPosition.numbers) else { return nil }
        guard
            let position = search.isRanked
                ? SearchPosition.past(Int(cursor.numbers[0])) : SearchPosition(cursor.numbers)
        else {
            throw Cursor.unknown
        }
        return position
    }
}
