import Foundation
import HesperBlobs
import HesperModel
import HesperSQLite
import HesperStore
import Hummingbird
import NIOCore
import Testing

@testable import HesperServer

/// Pages that are read before they are requested.
@Suite struct PagePrefetchTests {
    /// A server with an account with three notes. A page of two notes is large enough to be followed by a prefetch.
    private struct Fixture {
        let store: SharedStore
        let backend: Backend
        private let token = TokenHash(bytes: Array(repeating: 0, count: 32))

        static func with(_ body: (Fixture) async throws -> Void) async throws {
            let folder = URL(filePath: ".build/server-tests").appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await body(Fixture(in: folder))
        }

        private init(in folder: URL) async throws {
            store = SharedStore(store: try SQLiteStore(folder: folder), signals: nil)
            backend = Backend(
                store: store, blobs: try FolderBlobs(path: folder.appending(path: "attachments").path))
            let token = token
            try await store.write { transaction in
                let account = try transaction.insertAccount(
                    .random(), email: "ada@example.org", passwordHash: "", creationDate: .now)
                let device = Device(
                    node: .random(), account: try #require(account).uniqueID, name: "phone", appVersion: nil,
                    userAgent: nil, creationDate: .now, lastUseDate: .now)
                try transaction.insert(device, token: token)
            }
            for name in ["first", "second", "third"] { try await push(name) }
        }

        var session: Session {
            get async throws { try #require(await store.session(of: token)) }
        }

        /// Adds a note that begins with `name`.
        func push(_ name: String) async throws {
            let session = try await session
            let text = name + String(repeating: " word", count: PagePrefetch.minimumBytes / 10)
            let clock = try #require(
                Clock(milliseconds: UInt64(Timestamp.now.milliseconds), node: session.device.node))
            let note = """
                {"uniqueID":"\(UniqueID.random())","creationDate":"2026-11-29T08:00:00.000Z","text":"\(text)",
                "clocks":{"text":"\(clock)"}}
                """
            let request = try SyncRequest(JSONReader.read(Array(#"{"changes":{"notes":[\#(note)]}}"#.utf8)))
            let result = try await backend.scope(of: session).apply(
                request.push, by: session.device.node, since: nil, of: Feed(.all))
            #expect(result.receipts.map(\.status) == [.applied])
        }

        /// Requests a page of two notes.
        func json(
            since token: SyncToken?, _ selection: Selection, _ shape: FeedResponse.Shape, results: String? = nil
        ) async throws -> JSON {
            let response = try await FeedResponse(
                backend: backend, feed: Feed(selection, limit: 2), shape: shape, results: results.map { Array($0.utf8) }
            ).page(since: token, session)
            let collector = Collector()
            try await response.body.write(collector)
            return try JSONReader.read(collector.bytes)
        }

        /// Requests a page of two notes, as `POST /v1/sync` does.
        func page(since token: SyncToken? = nil) async throws -> (names: [String], token: SyncToken) {
            let json = try await json(since: token, .all, .changes, results: "[]")
            let texts = try json.member("changes").member("notes").array.map { try $0.member("text").string }
            let next = try #require(SyncToken(json.member("syncToken").string))
            return (texts.map { String($0.prefix { $0 != " " }) }, next)
        }

        /// The number of reads of the store.
        var reads: Int { -store.failures.withLockedValue { $0 } }

        /// Requests the first page, which reads the objects and their number, and waits until the next page is being read.
        func firstPage() async throws -> (names: [String], token: SyncToken) {
            let before = reads
            let page = try await page()
            try await PagePrefetchTests.eventually { backend.prefetch.count == 1 && reads == before + 3 }
            return page
        }
    }

    private static func eventually(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !condition(), .now < end { try await Task.sleep(for: .milliseconds(1)) }
        #expect(condition())
    }

    private final class Collector: ResponseBodyWriter {
        private(set) var bytes: [UInt8] = []

        func write(_ buffer: ByteBuffer) async throws { bytes += buffer.readableBytesView }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    @Test func theNextPageIsReadBeforeItIsRequested() async throws {
        try await Fixture.with { fixture in
            let first = try await fixture.firstPage()
            #expect(first.names == ["third", "second"])
            #expect(first.token.remaining?.objects == 1)
            let reads = fixture.reads
            let second = try await fixture.page(since: first.token)
            #expect(second.names == ["first"])
            #expect(second.token.remaining == nil)
            #expect(fixture.reads == reads)
            #expect(fixture.backend.prefetch.count == 0)
            // A prefetched page is used once. If the page is requested again, it is read again.
            #expect(try await fixture.page(since: first.token).names == ["first"])
            #expect(fixture.reads == reads + 1)
        }
    }

    @Test func aPageIsReadAgainIfTheScopeHasChanged() async throws {
        try await Fixture.with { fixture in
            let first = try await fixture.firstPage()
            try await fixture.push("fourth")
            #expect(try await fixture.page(since: first.token).names == ["first", "fourth"])
        }
    }

    /// `GET /v1/notes` and `GET /v1/changes?objectTypes=note` have the same tokens, but responses of different layouts.
    @Test func aPageIsUsedOnlyForResponsesOfItsLayout() async throws {
        try await Fixture.with { fixture in
            let first = try await fixture.json(since: nil, .notes, .section(.notes))
            let token = try #require(SyncToken(first.member("syncToken").string))
            try await PagePrefetchTests.eventually { fixture.backend.prefetch.count == 1 }
            let second = try await fixture.json(since: token, .notes, .changes)
            #expect(try second.member("changes").member("notes").array.count == 1)
        }
    }

    @Test func aPageIsReadAgainIfThePrefetchFailed() async throws {
        try await Fixture.with { fixture in
            let token = try await fixture.firstPage().token
            let key = PagePrefetch.Key(token: token, selection: .all, limit: 2, shape: .changes, hasResults: true)
            let head = try await fixture.session.head
            #expect(fixture.backend.prefetch.take(key, head: head) != nil)
            fixture.backend.prefetch.add(key, head: head) {
                PageReading(FeedCount { .none }) { _ in throw StoreError.unavailable("simulated outage") }
            }
            #expect(try await fixture.page(since: token).names == ["first"])
        }
    }

    @Test func theNumberOfPagesIsLimitedAndTheyAreDiscarded() async throws {
        let prefetch = PagePrefetch(lifetime: .milliseconds(200))
        let head = ScopeHead(scope: ScopeID(1), sequence: 9, digest: .zero)
        func key(_ number: Int) -> PagePrefetch.Key {
            let token = SyncToken(epoch: 1, scope: head.scope, selection: .all, position: .after(Int64(number)))
            return PagePrefetch.Key(token: token, selection: .all, limit: 10, shape: .changes, hasResults: true)
        }
        var started: [Int] = []
        for number in [1, 1, 2, 3, 4, 5] {
            prefetch.add(key(number), head: head) {
                started.append(number)
                return PageReading(FeedCount { .none }) { _ in throw CancellationError() }
            }
        }
        #expect(started == [1, 2, 3, 4])
        #expect(prefetch.take(key(5), head: head) == nil)
        try await PagePrefetchTests.eventually { prefetch.count == 0 }
    }
}
