import HesperModel
import HesperStore
import StoreContract
import Testing

@testable import HesperPostgres

/// Search for notes whose terms exceed one `tsvector`, and the order of results.
@Suite("Search", .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct SearchTests {
    /// About a megabyte of distinct words.
    private static let long = "alpha " + (0..<90_000).map { "w\($0)x" }.joined(separator: " ") + " milk and bread omega"

    private func page(_ search: Search, _ desk: TestClient) async throws -> SearchPage {
        try await desk.store.read { try $0.search(search, in: desk.scope) }
    }

    private func found(
        _ text: String, _ desk: TestClient, order: Search.Order = .newest, limit: Int = 100
    ) async throws -> [UniqueID] {
        let search = Search(query: try SearchQuery(text), order: order, limit: limit, timeout: .seconds(60))
        return try await page(search, desk).found.map(\.note.uniqueID)
    }

    private func index(_ desk: TestClient) async throws {
        for _ in 0..<100 where try await desk.store.write({ try $0.indexTerms(of: desk.scope, limit: 100) }) { return }
    }

    @Test("A note of a megabyte is found by words from any part of it, and by no others")
    func longNotes() async throws {
        #expect(SearchTests.long.utf8.count < Limits.textBytes)
        try await Stores.with { stores in
            let desk = try await TestClient(try await stores.open())
            let (long, short) = (UniqueID.random(), UniqueID.random())
            try await desk.push(desk.note(long, SearchTests.long), desk.note(short, "Milk and butter"))
            try await index(desk)
            #expect(Lexemes.parts(of: SearchTests.long, scope: desk.scope).count > 2)
            for (query, isFound) in [
                ("alpha", true), ("omega", true), ("alpha omega", true), ("w5x w89999x", true), ("w899", true),
                ("\"milk and bread\"", true), ("\"bread and milk\"", false), ("alpha butter", false),
                ("\"alpha w0x\"", true), ("\"alpha w1x\"", false), ("w90001x", false),
            ] {
                #expect(try await found(query, desk).contains(long) == isFound, "\(query)")
            }
            #expect(Set(try await found("milk", desk)) == [long, short])
            #expect(try await found("butter", desk) == [short])
            #expect(try await desk.inconsistencies() == [])
            // First with a shorter text, then deleted: none of its parts must remain.
            try await desk.push(desk.note(long, "Tea", at: 5))
            try await index(desk)
            #expect(try await found("omega", desk) == [])
            #expect(try await found("tea", desk) == [long])
            #expect(try await desk.inconsistencies() == [])
            try await desk.push(desk.delete(long))
            try await index(desk)
            #expect(try await found("tea", desk) == [])
            #expect(try await desk.inconsistencies() == [])
        }
    }

    @Test("Pages of results are complete, also where phrases are searched in the texts")
    func pages() async throws {
        try await Stores.with { stores in
            let desk = try await TestClient(try await stores.open())
            let ids = (0..<200).map { _ in UniqueID.random() }
            try await desk.store.write { transaction in
                _ = try desk.push(
                    ids.enumerated().map { desk.note($1, $0.isMultiple(of: 2) ? "milk and bread" : "bread and milk") },
                    in: transaction)
            }
            try await index(desk)
            for (query, count) in [("milk", 200), ("\"milk and\"", 100), ("", 200)] {
                let all = try await found(query, desk, limit: 1_000)
                #expect(all.count == count)
                var paged: [UniqueID] = []
                var search = Search(query: try SearchQuery(query), limit: 33, timeout: .seconds(60))
                for _ in 0..<10 {
                    let page = try await page(search, desk)
                    paged += page.found.map(\.note.uniqueID)
                    search.start = page.next
                    if page.next == nil { break }
                }
                #expect(paged == all)
            }
        }
    }

    @Test("Results are complete if one query result cannot contain all texts")
    func largeNotes() async throws {
        try await Stores.with { stores in
            let store = try await stores.open()
            let desk = try await TestClient(store)
            let ids = (0..<24).map { _ in UniqueID.random() }
            try await store.write { _ = try desk.push(ids.map { desk.note($0, "milk and bread") }, in: $0) }
            try await index(desk)
            let found = try await found("\"milk and\"", desk)
            #expect(Set(found) == Set(ids))
            // The first batch has four notes. In the second batch, the second large text exceeds the limit.
            try await store.enlarge([found[0], found[1], found[2], found[7], found[8], found[9], found[23]])
            #expect(try await self.found("\"milk and\"", desk) == found)
        }
    }

    @Test("Relevance prefers frequent words, then short notes, then new notes")
    func relevance() async throws {
        try await Stores.with { stores in
            let desk = try await TestClient(try await stores.open())
            let ids = (0..<4).map { _ in UniqueID.random() }
            let filler = (0..<200).map { "word\($0)" }.joined(separator: " ")
            try await desk.push(
                desk.note(ids[3], "milk \(filler)"), desk.note(ids[1], "milk and bread"),
                desk.note(ids[0], "milk, milk and milk"), desk.note(ids[2], "milk with \(filler) milk"))
            try await index(desk)
            #expect(try await found("milk", desk, order: .relevance) == ids)
        }
    }
}
