import HesperStore
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct PipelineTests {
    private static let table = "CREATE TABLE words (id bigint PRIMARY KEY, word text NOT NULL)"
    private static let insert = "INSERT INTO words (id, word) VALUES ($1, $2)"

    private func onTable<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await onConnection { connection throws in
            try connection.execute(script: PipelineTests.table)
            return try body(connection)
        }
    }

    private static func words(_ connection: Connection) throws -> [Int64] {
        try connection.all("SELECT id FROM words ORDER BY id") { $0.integer(0) }
    }

    @Test func aStatementIsPreparedOnce() async throws {
        let count = try await onTable { connection throws in
            for id in 1...3 { try connection.run(PipelineTests.insert, [.int(id), .text("a")]) }
            // The same within one pipeline, before the first result has arrived.
            for id in 4...6 { connection.enqueue("UPDATE words SET word = $2 WHERE id = $1", [.int(id), .text("b")]) }
            return try connection.first(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE ANY ($1)",
                [.textArray(["INSERT INTO words%", "UPDATE words%"])]
            ) { $0.int(0) }
        }
        #expect(count == 2)
    }

    @Test func enqueuedStatementsTakeOneRoundTrip() async throws {
        let trips = try await onTable { connection throws in
            var trips: [Int] = []
            func count(_ body: () throws -> Void) rethrows {
                let before = connection.roundTrips
                try body()
                trips.append(connection.roundTrips - before)
            }
            try count {
                connection.enqueue("BEGIN")
                _ = try connection.first("SELECT count(*) FROM words") { $0.int(0) }
            }
            try count {
                for id in 1...500 { connection.enqueue(PipelineTests.insert, [.int(id), .text("a")], expecting: 1) }
                try connection.run("COMMIT")
            }
            try count { try connection.flush() }
            #expect(try PipelineTests.words(connection).count == 500)
            return trips
        }
        #expect(trips == [1, 1, 0])
    }

    @Test func anErrorInAPipelineNamesItsStatementAndTheConnectionRemainsUsable() async throws {
        try await onTable { connection throws in
            let clash = "INSERT INTO words (word, id) VALUES ($1, $2)"
            connection.enqueue("BEGIN")
            connection.enqueue(PipelineTests.insert, [.int8(1), .text("a")])
            connection.enqueue("SAVEPOINT s")
            connection.enqueue(clash, [.text("b"), .int8(1)])
            connection.enqueue(PipelineTests.insert, [.int8(2), .text("c")])
            let error = #expect(throws: PostgresError.self) { try connection.flush() }
            #expect(error?.sqlState == "23505" && error?.constraint == "words_pkey" && error?.statement == clash)
            #expect(error?.isUniqueViolation == true && error?.isConnection == false && error?.isRetryable == false)
            #expect(connection.hasFailed)
            // The error is thrown only once.
            connection.enqueue("ROLLBACK TO SAVEPOINT s")
            connection.enqueue(PipelineTests.insert, [.int8(3), .text("c")])
            try connection.run("COMMIT")
            #expect(try PipelineTests.words(connection) == [1, 3])
        }
    }

    @Test func theFirstErrorIsThrown() async throws {
        try await onTable { connection throws in
            connection.enqueue("SELECT 1/0")
            connection.enqueue("SELECT nothing")
            let error = #expect(throws: PostgresError.self) {
                try connection.run(PipelineTests.insert, [.int8(1), .text("a")])
            }
            #expect(error?.sqlState == "22012")
            #expect(try PipelineTests.words(connection) == [])
        }
    }

    @Test func aStatementWhosePreparationFailedCanBeRetried() async throws {
        try await onTable { connection throws in
            for _ in 1...2 {
                let error = #expect(throws: PostgresError.self) { try connection.run("SELEKT 1") }
                #expect(error?.sqlState == "42601" && error?.statement == "SELEKT 1")
            }
            // The server skips this statement and its preparation.
            connection.enqueue("SELECT 1/0")
            connection.enqueue(PipelineTests.insert, [.int8(1), .text("a")])
            #expect(throws: PostgresError.self) { try connection.flush() }
            #expect(try connection.run(PipelineTests.insert, [.int8(1), .text("a")]) == 1)
        }
    }

    @Test func anUnexpectedNumberOfRowsIsAnError() async throws {
        try await onTable { connection throws in
            connection.enqueue("UPDATE words SET word = 'b' WHERE id = $1", [.int8(7)], expecting: 1)
            let error = #expect(throws: PostgresError.self) { try connection.flush() }
            #expect(error?.message.hasPrefix("changed 0 rows instead of 1 in: UPDATE words") == true)
        }
    }

    @Test func anArgumentOfAnotherTypeIsRejectedBeforeItIsSent() async throws {
        try await onTable { connection throws in
            try connection.run(PipelineTests.insert, [.int8(1), .text("a")])
            #expect(throws: PostgresError.self) { try connection.run(PipelineTests.insert, [.int4(2), .text("a")]) }
            connection.enqueue(PipelineTests.insert, [.int4(2), .text("a")])
            #expect(throws: PostgresError.self) { try connection.flush() }
            #expect(try connection.run(PipelineTests.insert, [.int8(2), .text("a")]) == 1)
        }
    }

    @Test func aCommitOfAFailedTransactionIsAnError() async throws {
        try await onTable { connection throws in
            try connection.run("BEGIN")
            #expect(throws: PostgresError.self) { try connection.run("SELECT 1/0") }
            let error = #expect(throws: PostgresError.self) { try connection.run("COMMIT") }
            #expect(error?.sqlState == "25P02")
            #expect(!connection.isInTransaction)
        }
    }

    @Test func aLongPipelineDoesNotBlock() async throws {
        // More than the buffers of both sides hold: results arrive while statements are still being sent.
        let text = String(repeating: "a", count: 10_000)
        let (count, trips) = try await onTable { connection throws in
            let before = connection.roundTrips
            for id in 1...3_000 {
                connection.enqueue(
                    "INSERT INTO words (id, word) VALUES ($1, $2) RETURNING word", [.int(id), .text(text)])
            }
            try connection.flush()
            return (try PipelineTests.words(connection).count, connection.roundTrips - before)
        }
        #expect(count == 3_000 && trips == 2)
    }

    @Test func aScriptRunsManyStatementsInOneTransaction() async throws {
        try await onTable { connection throws in
            connection.enqueue(PipelineTests.insert, [.int8(1), .text("a")])
            try connection.execute(script: "INSERT INTO words VALUES (2, 'b'); INSERT INTO words VALUES (3, 'c');")
            let error = #expect(throws: PostgresError.self) {
                try connection.execute(script: "INSERT INTO words VALUES (4, 'd'); SELECT 1/0")
            }
            #expect(error?.sqlState == "22012")
            #expect(try PipelineTests.words(connection) == [1, 2, 3])
        }
    }
}
