import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// Timeouts of searches, and cursors.
@Suite struct SearchLimitsTests {
    /// With this timeout, a search for words finds nothing, and a search without words finds one note.
    private static let noTimeout: TestServer.Change = { $0.searches.timeout = .zero }

    @Test func aSearchThatTimesOutIsRefused() async throws {
        try await TestServer.test(.router, SearchLimitsTests.noTimeout) { client in
            let ada = try await client.signedUp()
            for index in 0..<200 { try await ada.send(.post, "/v1/notes", #"{"text":"Milk \#(index)"}"#) }
            for sort in ["newest", "relevance"] {
                let response = try await ada.send(.get, "/v1/search?q=m&sort=\(sort)")
                #expect(response.status == 422)
                #expect(try response.slug == "search-too-costly")
                #expect(try response.json.member("pointer").string == "q")
            }
            #expect(try await ada.send(.post, "/v1/notes", #"{"text":"Bread"}"#).status == 201)
            // A rare word is cheap.
            let response = try await ada.send(.get, "/v1/search?q=bread")
            #expect(try response.json.member("results").array.count == 1)
        }
    }

    @Test func atTheTimeoutThePageEndsAndTheNextContinues() async throws {
        try await TestServer.test(.router, SearchLimitsTests.noTimeout) { client in
            let ada = try await client.signedUp()
            for index in 0..<5 { try await ada.send(.post, "/v1/notes", #"{"text":"Milk \#(index)"}"#) }
            var (texts, cursor): ([String], String) = ([], "")
            for _ in 0..<10 {
                let page = try await ada.send(.get, "/v1/search\(cursor)").json
                let results = try page.member("results").array
                texts += try results.map { try $0.member("note").member("text").string }
                #expect(results.count <= 1)
                guard let next = try? page.member("nextCursor").string else { break }
                cursor = "?cursor=\(next)"
            }
            #expect(texts == (0..<5).reversed().map { "Milk \($0)" })
        }
    }

    @Test(arguments: [
        SearchPosition.past(0), .past(10_000),
        .behind(sortDate: Timestamp(clamping: .min), note: UniqueID(high: .max, low: 0)),
        .behind(sortDate: Timestamp(clamping: .max), note: UniqueID(high: 1, low: .max)),
    ]) func cursorsAreParsed(_ position: SearchPosition) throws {
        let numbers = position.cursor.numbers
        let cursor = try #require(Cursor(position.cursor.text, count: numbers.count))
        #expect(cursor.numbers == numbers)
        if case .behind = position { #expect(SearchPosition(cursor.numbers) == position) }
    }

    @Test(
        arguments: [
            [0, 1 << 32, 0, 0, 0], [.max, 0, 0, 0, 0],
            [Timestamp.range.upperBound - Timestamp.range.lowerBound + 1, 0, 0, 0, 0],
        ] as [[Int64]]) func invalidNumbersAreNotACursor(_ numbers: [Int64])
    {
        #expect(SearchPosition(numbers) == nil)
    }
}
