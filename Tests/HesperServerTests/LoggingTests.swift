import HTTPTypes
import HesperModel
import HesperStore
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import HesperServer

/// Every log message of a request has its ID; unexpected errors and outages are logged.
@Suite struct LoggingTests {
    private static func lines(
        level: Logger.Level = .debug, _ body: @Sendable (TestClient) async throws -> Void
    ) async throws -> [String] {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines, logLevel: level) }
        try await TestServer.test(logger: logger, body)
        return lines.withLockedValue { $0 }
    }

    @Test func oneMessagePerRequest() async throws {
        let lines = try await LoggingTests.lines { client in
            try await client.send(.get, "/v1/nothing?secret=1", headers: [.requestID: "mine-1"])
            let client = try await client.signedUp()
            try await client.send(.get, "/v1/account", headers: [.requestID: "mine-2"])
        }
        let first = try #require(lines.first { $0.contains("mine-1") })
        #expect(first.contains("method=GET") && first.contains("path=/v1/nothing ") && first.contains("status=404"))
        #expect(first.contains("microseconds=") && !first.contains("device="))
        let second = try #require(lines.first { $0.contains("mine-2") })
        #expect(second.contains(#/device=[0-9a-f]{16}/#) && second.contains("status=200"))
        #expect(second.contains(#/account=[0-9a-f-]{36} /#))
        #expect(lines.allSatisfy { !$0.contains("secret") && !$0.contains("hesper_") })
        #expect(lines.filter { $0.contains("status=201") && $0.contains("hb.request.id=") }.count == 1)
    }

    @Test func nothingAtLevelInfo() async throws {
        let lines = try await LoggingTests.lines(level: .info) { client in
            try await client.send(.get, "/v1/nothing", headers: [.requestID: "mine-1"])
        }
        #expect(lines.allSatisfy { !$0.contains("mine-1") })
    }

    /// Unexpected errors are logged, and their details are not sent to the client.
    @Test func unexpectedErrorsAreLogged() throws {
        struct Secret: Error { let sql = "SELECT" }
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines) }
        let problem = Problem(Secret(), logger: logger)
        #expect(problem.slug == .internalError)
        #expect(!problem.detail.contains("SELECT"))
        #expect(lines.withLockedValue { $0 }.contains { $0.hasPrefix("error") && $0.contains("SELECT") })
    }

    /// Internal errors that are thrown as problems are logged too.
    @Test func internalErrorsAreLogged() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines) }
        _ = Problem(Problem(.internalError, "A stored object has no ID."), logger: logger)
        #expect(lines.withLockedValue { $0 }.contains { $0.hasPrefix("error") && $0.contains("has no ID") })
    }

    @Test func anUnavailableDatabaseIsLogged() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines) }
        let problem = Problem(StoreError.unavailable("disk I/O error"), logger: logger, outages: OutageLog())
        #expect(problem.slug == .unavailable)
        let response = problem.response(requestID: "x")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "5")
        #expect(lines.withLockedValue { $0 }.contains { $0.contains("disk I/O error") })
    }

    @Test func anOutageIsLoggedAtMostOncePerSecond() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines) }
        let outages = OutageLog()
        let start = ContinuousClock.now
        for milliseconds in [0, 1, 500, 999, 1_000, 1_001, 2_500] {
            outages.report("No.", logger: logger, now: start + .milliseconds(milliseconds))
        }
        #expect(
            lines.withLockedValue { $0 } == [
                "error No. ", "error No. (3 more since the last message) ",
                "error No. (1 more since the last message) ",
            ])
    }

    /// Background failures because of an unavailable database are limited too; other failures are not.
    @Test func backgroundFailuresAreLimitedDuringAnOutage() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in LogRecorder(lines: lines) }
        let outages = OutageLog()
        _ = Problem(StoreError.unavailable("refused"), logger: logger, outages: outages)
        outages.report("Sweeping failed; retrying", StoreError.unavailable("refused"), logger: logger)
        outages.report("Indexing failed; retrying", StoreError.full("no room"), logger: logger)
        outages.report("Sweeping failed; retrying", StoreError.damaged("a page"), logger: logger)
        #expect(
            lines.withLockedValue { $0 } == [
                "error Database unavailable: refused ",
                "error Sweeping failed; retrying error=the database is damaged: a page",
            ])
    }
}
