import HesperModel
import HesperStore
import Hummingbird

/// `GET /v1/search`: full text, filters, pages, for thin clients and scripts (protocol.md, Resources).
struct SearchNotes: Resource {
    let backend: Backend
    let indexer: TermIndexer

    func add(to routes: inout Routes) {
        routes.get("/v1/search", ["q", "tag", "archived", "sort", "limit", "cursor"], use: search)
    }

    private func search(_ call: Call, _ session: Session) async throws -> Response {
        let query = try query(call)
        let archived = try call.query.bool("archived")
        let order = try order(call)
        let limit = try call.limit()
        let offset = Int(clamping: try call.cursor(1)?.numbers[0] ?? 0)
        let tag = try tag(call)
        let scope = session.scope
        @Sendable func answer(_ snapshot: any Snapshot) throws -> [UInt8] {
            let resolver = Resolver(snapshot: snapshot, scope: scope)
            let target = try tag.map { try resolver.live($0) }
            let tags = try target.map { try $0.map { try resolver.ancestors(of: $0) } ?? [] }
            let search = Search(
                query: query, tags: tags, archived: archived, order: order, offset: offset, limit: limit + 1)
            return try page(search, target ?? nil, resolver)
        }
        if let body = try await backend.store.replica?.read(at: session.head, indexed: true, answer) {
            return .json(body)
        }
        // The index is filled behind the commits: a search first brings it up to what the session has seen.
        do {
            try await indexer.index(scope, upTo: session.head.sequence)
        } catch StoreError.full(let reason) {
            // Whoever reads has nothing to keep: to them the store is away.
            throw StoreError.unavailable(reason)
        }
        return .json(try await backend.store.read(answer))
    }

    /// What was found, from the search's offset on.
    /// - Parameter target: the tag that is looked for.
    private func page(_ search: Search, _ target: UniqueID?, _ resolver: Resolver) throws -> [UInt8] {
        let found = try resolver.snapshot.search(search, in: resolver.scope)
        var writer = JSONWriter(capacity: 4_096)
        var taken = 0
        try writer.object { writer in
            writer.name("results")
            try writer.array { writer in
                for note in found.prefix(search.limit - 1) {
                    if taken > 0, writer.bytes.count >= Limits.pageBytes { break }
                    taken += 1
                    // The index knows every register; a note that has the tag no more is left out here.
                    if let target, try !resolver.members(of: note).tags.contains(target) { continue }
                    try write(note, search.query, resolver, to: &writer)
                }
            }
            if found.count > taken { writer.member("nextCursor", Cursor(Int64(search.offset + taken)).text) }
        }
        return writer.bytes
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
}
