import HesperModel
import HesperStore

extension StoreContract {
    static let searchCases: [Case] = [
        Case("the term index is filled in batches, in the order of changes") { (client: Client) in
            let other = try await Client(on: client.store, email: "bob@example.com")
            try await other.push(other.note(.random(), "Milk", at: 1))
            let both = [client.scope, other.scope].sorted()
            let ids = (0..<5).map { _ in UniqueID.random() }
            try await client.push(ids.map { client.note($0, "Milk", at: 1) } + [client.tag(.random(), "Milk", at: 1)])
            try expect(try await client.read { try $0.scopesToIndex(after: nil, limit: 9) }, is: both)
            try expect(try await client.read { try $0.scopesToIndex(after: nil, limit: 1) }, is: [both[0]])
            try expect(try await client.read { try $0.scopesToIndex(after: both[0], limit: 9) }, is: [both[1]])
            try expect(try await client.found("milk"), is: [])
            var steps: [Int] = []
            var isDone = false
            while !isDone, steps.count < 10 {
                isDone = try await client.store.write { try $0.indexTerms(of: client.scope, limit: 2) }
                steps.append(try await client.found("milk").count)
            }
            try expect(steps, is: [2, 4, 5])
            try expect(try await client.read { try $0.indexedSequence(of: client.scope) }, is: 6)
            try expect(try await client.read { try $0.scopesToIndex(after: nil, limit: 9) }, is: [other.scope])
            try expect(try await client.store.write { try $0.indexTerms(of: client.scope, limit: 2) }, is: true)
        },
        Case("search results reflect changes and deletions of notes") { (client: Client) in
            let (note, deleted) = (UniqueID.random(), UniqueID.random())
            try await client.push(client.note(note, "Milk and bread", at: 1), client.note(deleted, "Milk", at: 2))
            try await client.index()
            try expect(try await client.found("milk"), is: [deleted, note])
            try await client.push(client.set(note, .text, .string("Butter"), at: 3), client.delete(deleted))
            // The index is behind, but the deleted note is not found.
            try expect(try await client.found("milk").contains(deleted), is: false)
            try await client.index()
            try expect(try await client.found("milk"), is: [])
            try expect(try await client.found("butter"), is: [note])
            try await client.push(client.set(note, .archived, .bool(true), at: 4))
            try await client.index()
            try expect(try await client.found("butter", archived: false), is: [])
            try expect(try await client.found("butter", archived: true), is: [note])
            try expect(try await client.inconsistencies(), is: [])
        },
        Case("search results contain the current notes") { (client: Client) in
            let note = UniqueID.random()
            try await client.push(client.note(note, "Milk", at: 1, (.custom("pinned"), .bool(true))))
            try await client.index()
            let search = Search(query: try SearchQuery("milk"), limit: 9)
            try expect(
                try await client.read { try $0.search(search, in: client.scope).found.map(\.note) },
                is: [try await client.note(note)])
        },
        Case("results are in descending order of sort dates, in pages") { (client: Client) in
            let ids = (0..<7).map { _ in UniqueID.random() }
            try await client.push(ids.enumerated().map { client.note($1, "Milk", at: UInt64($0 + 1)) })
            try await client.push(client.set(ids[2], .sortDate, .date(Client.date(1_000)), at: 50))
            try await client.index()
            let order = [ids[2]] + [6, 5, 4, 3, 1, 0].map { ids[$0] }
            for text in ["milk", ""] {
                try expect(try await client.found(text), is: order)
                let pages = [Array(order[0..<3]), Array(order[3..<6]), Array(order[6...])]
                try expect(try await client.pages(text, limit: 3), is: pages)
                let reversed = [[0, 1, 3].map { ids[$0] }, [4, 5, 6].map { ids[$0] }, [ids[2]]]
                try expect(try await client.pages(text, order: .oldest, limit: 3), is: reversed)
                // A full page that contains all remaining notes is the last.
                try expect(try await client.pages(text, limit: 7), is: [order])
                try expect(try await client.found(text, limit: 0), is: [])
            }
        },
        Case("the next page continues after the last note, regardless of new notes") { (client: Client) in
            let ids = (0..<6).map { _ in UniqueID.random() }
            try await client.push(ids.enumerated().map { client.note($1, "Milk", at: UInt64($0 + 1)) })
            try await client.index()
            for text in ["milk", ""] {
                let all = try await client.found(text)
                let first = try await client.page(text, limit: 2)
                try expect(first.found.map(\.note.uniqueID), is: Array(all[..<2]))
                try await client.push(client.note(.random(), "Milk", at: 100))
                try await client.index()
                let second = try await client.page(text, limit: 2, from: first.next)
                try expect(second.found.map(\.note.uniqueID), is: Array(all[2..<4]))
                let ascending = try await client.found(text, order: .oldest)
                let oldest = try await client.page(text, order: .oldest, limit: 2)
                try expect(oldest.found.map(\.note.uniqueID), is: Array(ascending[..<2]))
                try await client.push(client.note(.random(), "Milk", at: 0))
                try await client.index()
                let next = try await client.page(text, order: .oldest, limit: 2, from: oldest.next)
                try expect(next.found.map(\.note.uniqueID), is: Array(ascending[2..<4]))
            }
        },
        Case("a page ends at the limit of examined notes, and the next continues there") { (client: Client) in
            let ids = (0..<7).map { _ in UniqueID.random() }
            try await client.push(ids.enumerated().map { client.note($1, "Milk", at: UInt64($0 + 1)) })
            try await client.index()
            let order = Array(ids.reversed())
            for (text, sort) in [("milk", Search.Order.newest), ("", .newest), ("milk", .relevance), ("", .oldest)] {
                let pages = try await client.pages(text, order: sort, limit: 100, noteLimit: 3)
                try expect(pages.map(\.count), is: [3, 3, 1], "\(sort)")
                try expect(pages.flatMap(\.self), is: sort == .oldest ? ids : order, "\(sort)")
            }
        },
        Case("a search that takes too long fails, without other effects") { (client: Client) in
            let ids = (0..<800).map { _ in UniqueID.random() }
            // All words have common prefixes, but no two notes have the same word. This is the most expensive case for queries
            // with prefixes.
            try await client.store.write { transaction in
                let notes = ids.enumerated().map { index, id in
                    client.note(id, (0..<32).map { "word\($0)x\(index)" }.joined(separator: " "), at: 1)
                }
                try client.push(notes, in: transaction)
            }
            try await client.index()
            let query = (0..<32).map { "word\($0)x" }.joined(separator: " ")
            do {
                let page = try await client.page(query, order: .relevance, limit: 10, timeout: .zero)
                throw Violation(description: "\(page.found.count) notes were found with a timeout of zero")
            } catch is SearchTooCostly {}
            try expect(Set(try await client.found(query)), is: Set(ids))
            try expect(try await client.found(query, order: .relevance).count, is: ids.count)
            try await client.push(client.note(.random(), "Milk", at: 2))
        },
        Case("results can be ordered by relevance") { (client: Client) in
            let (much, little) = (UniqueID.random(), UniqueID.random())
            let filler = Array(repeating: "something else entirely", count: 30).joined(separator: " ")
            try await client.push(
                client.note(much, "milk milk milk", at: 1), client.note(little, "\(filler) milk \(filler)", at: 9))
            for index in 0..<10 { try await client.push(client.note(.random(), "bread \(index)", at: 5)) }
            try await client.index()
            try expect(try await client.found("milk", order: .newest), is: [little, much])
            try expect(try await client.found("milk", order: .relevance), is: [much, little])
        },
        Case("results are filtered by tags; for merged tags, the greatest clock decides") { (client: Client) in
            let (x, y) = (UniqueID.random(), UniqueID.random())
            let (hasX, hasY, removedY, none) = (
                UniqueID.random(), UniqueID.random(), UniqueID.random(), UniqueID.random()
            )
            try await client.push(client.tag(x, "x", at: 1), client.tag(y, "y", at: 1))
            try await client.push(
                client.note(hasX, "Milk", at: 2, (.tag(x), .bool(true))),
                client.note(hasY, "Milk", at: 3, (.tag(y), .bool(true))),
                client.note(removedY, "Milk", at: 4, (.tag(x), .bool(true))), client.note(none, "Milk", at: 5))
            try await client.push(client.set(removedY, .tag(y), .bool(false), at: 6))
            try await client.index()
            for text in ["milk", ""] {
                try expect(try await client.found(text, tags: [x]), is: [removedY, hasX])
                try expect(try await client.found(text, tags: [y]), is: [hasY])
                try expect(try await client.found(text, tags: [x, y]), is: [hasY, hasX])
                try expect(try await client.pages(text, tags: [x, y], limit: 1), is: [[hasY], [hasX]])
                try expect(try await client.found(text, tags: []), is: [])
                try expect(try await client.found(text, tags: [.random()]), is: [])
            }
            try expect(try await client.found("bread", tags: [x]), is: [])
        },
        Case("query syntax of the database has no effect") { (client: Client) in
            let note = UniqueID.random()
            try await client.push(client.note(note, "NEAR and OR not text: 7 milk", at: 1))
            try await client.index()
            for text in [
                "\"", "*", "milk*", "NEAR(milk)", "text:milk", "milk AND", "OR", "NOT milk", "^milk", "(milk", "-milk",
                "{text}:7",
                "'; DROP TABLE notes; --", "milk\u{0}", "\"milk\"\"", "1:milk", "\(client.scope.rawValue):milk",
            ] {
                let expected = try SearchQuery(text).matches("NEAR and OR not text: 7 milk") ? [note] : []
                try expect(try await client.found(text), is: expected, text)
            }
        },
        Case("a search finds exactly the notes that match the query, in any script") { (client: Client) in
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SeededGenerator(seed: seed)
            var texts: [UniqueID: String] = [:]
            for _ in 0..<6 {
                // Some notes are new, others change.
                let batch = (0..<25).map { _ in
                    (
                        texts.keys.sorted().randomElement(using: &random).flatMap {
                            Bool.random(using: &random) ? $0 : nil
                        } ?? .random(),
                        Words.text(using: &random)
                    )
                }
                for (id, text) in batch {
                    let time = UInt64(texts.count + 1)
                    if texts[id] == nil {
                        try await client.push(client.note(id, text, at: time))
                    } else {
                        var later = try await client.note(id).textClock.map { $0.milliseconds - Client.begin } ?? 0
                        later += 1_000
                        try await client.push(client.set(id, .text, .string(text), at: later))
                    }
                    texts[id] = try await client.note(id).text
                }
                try await client.index()
                for _ in 0..<40 {
                    let text = Words.query(of: Array(texts.values), using: &random)
                    let query = try SearchQuery(text)
                    let expected = Set(texts.filter { query.matches($0.value) }.keys)
                    try expect(
                        Set(try await client.found(text)), is: expected, "seed \(seed): \(text.debugDescription)")
                }
            }
            try expect(try await client.inconsistencies(), is: [], "seed \(seed)")
        },
    ]
}

extension Client {
    /// Completes the term index.
    func index() async throws {
        for _ in 0..<1_000 where try await store.write({ try $0.indexTerms(of: scope, limit: 100) }) { return }
        throw Violation(description: "the term index is not completed")
    }

    func page(
        _ text: String, tags: [UniqueID]? = nil, archived: Bool? = nil, order: Search.Order = .newest,
        limit: Int = 1_000, from start: SearchPosition? = nil, noteLimit: Int = Limits.searchNotes,
        timeout: Duration = .seconds(60)
    ) async throws -> SearchPage {
        let search = Search(
            query: try SearchQuery(text), tags: tags, archived: archived, order: order, start: start, limit: limit,
            noteLimit: noteLimit, timeout: timeout)
        return try await store.read { try $0.search(search, in: scope) }
    }

    /// All pages.
    func pages(
        _ text: String, tags: [UniqueID]? = nil, order: Search.Order = .newest, limit: Int,
        noteLimit: Int = Limits.searchNotes, timeout: Duration = .seconds(60)
    ) async throws -> [[UniqueID]] {
        var (pages, start): ([[UniqueID]], SearchPosition?) = ([], nil)
        for _ in 0..<1_000 {
            let page = try await page(
                text, tags: tags, order: order, limit: limit, from: start, noteLimit: noteLimit, timeout: timeout)
            if !page.found.isEmpty { pages.append(page.found.map(\.note.uniqueID)) }
            guard let next = page.next else { return pages }
            start = next
        }
        throw Violation(description: "the pages of \(text) never end")
    }

    /// The first page.
    func found(
        _ text: String, tags: [UniqueID]? = nil, archived: Bool? = nil, order: Search.Order = .newest,
        limit: Int = 1_000
    ) async throws -> [UniqueID] {
        try await page(text, tags: tags, archived: archived, order: order, limit: limit).found.map(\.note.uniqueID)
    }
}
