import HTTPTypes
import HesperModel
import HesperStore
import Testing

@testable import HesperServer

/// What searching may cost, and what whoever asks for more is told.
@Suite struct SearchLimitsTests {
    /// Nothing is found in no time by words; without words, one note is.
    private static let noTime: TestServer.Change = { $0.searches.patience = .zero }

    @Test func aSearchThatTakesTooLongIsRefusedAndHarmsNothing() async throws {
        try await TestServer.test(.router, SearchLimitsTests.noTime) { client in
            let ada = try await client.signedUp()
            for index in 0..<200 { try await ada.send(.post, "/v1/notes", #"{"text":"Milk \#(index)"}"#) }
            for sort in ["newest", "relevance"] {
                let answer = try await ada.send(.get, "/v1/search?q=m&sort=\(sort)")
                #expect(answer.status == 422)
                #expect(try answer.slug == "search-too-costly")
                #expect(try answer.json.member("pointer").string == "q")
            }
            #expect(try await ada.send(.post, "/v1/notes", #"{"text":"Bread"}"#).status == 201)
            // A word that is seldom costs little.
            let answer = try await ada.send(.get, "/v1/search?q=bread")
            #expect(try answer.json.member("results").array.count == 1)
        }
    }

    @Test func whereTimeIsUpThePageEndsAndTheNextGoesOn() async throws {
        try await TestServer.test(.router, SearchLimitsTests.noTime) { client in
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
    ]) func cursorsAreReadBack(_ position: SearchPosition) throws {
        let numbers = position.cursor.numbers
        let cursor = try #require(Cursor(position.cursor.text, count: numbers.count))
        #expect(cursor.numbers == numbers)
        if case .behind = position { #expect(SearchPosition(cursor.numbers) == position) }
    }

    @Test(
        arguments: [
            [0, 1 << 32, 0, 0, 0], [.max, 0, 0, 0, 0],
            [Timestamp.range.upperBound - Timestamp.range.lowerBound + 1, 0, 0, 0, 0],
        ] as [[Int64]]) func otherNumbersAreNoCursor(_ numbers: [Int64])
    {
        #expect(SearchPosition(numbers) == nil)
    }

    // MARK: Turns

    /// What searches stand before until it is opened.
    private actor Gate {
        private(set) var entered: [ScopeID] = []
        private(set) var most = 0
        private var inside = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func pass(_ scope: ScopeID) async {
            entered.append(scope)
            inside += 1
            most = max(most, inside)
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            inside -= 1
        }

        func open() {
            isOpen = true
            for one in waiting { one.resume() }
            waiting = []
        }
    }

    /// Waits for what must come, for ten seconds at most.
    private func until(_ condition: () async -> Bool) async throws {
        for _ in 0..<10_000 {
            if await condition() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("it never came")
    }

    @Test func anAccountHasItsTurnsAndOthersHaveTheirs() async throws {
        var limits = TurnLimits()
        (limits.atOnce, limits.perAccount, limits.waiting) = (3, 2, 2)
        let (turns, gate) = (AccountTurns("searches", limits), Gate())
        let (ada, bob) = (ScopeID(1), ScopeID(2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            func begin(_ scope: ScopeID) {
                group.addTask { try await turns.take(scope) { await gate.pass(scope) } }
            }
            for _ in 0..<4 { begin(ada) }
            try await until { await gate.entered.count == 2 }
            try await until { await turns.waitingCount == 2 }
            let refusal = await #expect(throws: Problem.self) { try await turns.take(ada) {} }
            #expect(refusal?.slug == .tooManyRequests)
            #expect(refusal?.context["retryAfter"] == .integer(Int64(AccountTurns.wait)))
            // Those of one account wait for each other, not before another's.
            begin(bob)
            try await until { await gate.entered == [ada, ada, bob] }
            begin(bob)
            try await until { await turns.waitingCount == 3 }
            await gate.open()
            try await group.waitForAll()
        }
        #expect(await gate.entered.count == 6)
        #expect(await gate.most <= 3)
        #expect(await turns.waitingCount == 0)
        // All places are free again.
        for _ in 0..<10 { try await turns.take(ada) {} }
    }

    @Test func aSearchThatFailsGivesItsTurnBack() async throws {
        var limits = TurnLimits()
        (limits.atOnce, limits.perAccount, limits.waiting) = (1, 1, 0)
        let turns = AccountTurns("searches", limits)
        for _ in 0..<3 {
            await #expect(throws: SearchTooCostly.self) { try await turns.take(ScopeID(1)) { throw SearchTooCostly() } }
        }
    }
}
