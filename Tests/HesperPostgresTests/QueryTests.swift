import HesperStore
import Testing

@testable import HesperPostgres

@Suite(.enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.absence)))
struct QueryTests {
    private static let numbers = "SELECT n FROM generate_series(1::bigint, $1) AS n ORDER BY n"

    @Test func aQueryEndsWhenItsBodyReturnsFalse() async throws {
        let (seen, next) = try await onConnection { connection throws in
            var seen: [Int64] = []
            try connection.query(QueryTests.numbers, [.int8(1_000)]) { row in
                seen.append(row.integer(0))
                return seen.count < 3
            }
            return (seen, try connection.first("SELECT 8::bigint") { $0.integer(0) })
        }
        #expect(seen == [1, 2, 3] && next == 8)
    }

    @Test func aBodyMayRunOtherStatementsAndTheSameOne() async throws {
        let sums = try await onConnection { connection throws in
            try connection.all(QueryTests.numbers, [.int8(3)]) { row in
                try connection.all(QueryTests.numbers, [.int8(row.integer(0))]) { $0.integer(0) }.reduce(0, +)
            }
        }
        #expect(sums == [1, 3, 6])
    }

    @Test func errorsOfABodyAreThrown() async throws {
        struct Deliberate: Error {}
        try await onConnection { connection throws in
            #expect(throws: Deliberate.self) {
                try connection.query(QueryTests.numbers, [.int8(3)]) { _ in throw Deliberate() }
            }
            #expect(try connection.first("SELECT NULL::bigint") { $0.integerIfAny(0) } == nil)
            #expect(try connection.first("SELECT 1 WHERE false") { $0.integer(0) } == nil)
        }
    }

    @Test func aCursorReturnsAllRowsInBatches() async throws {
        let (sum, trips, largest) = try await onConnection { connection throws in
            var (sum, largest) = (Int64(0), 0)
            try connection.run("BEGIN")
            let before = connection.roundTrips
            let cursor = try connection.cursor(
                "SELECT n, repeat('x', 10000) FROM generate_series(1::bigint, $1) AS n", [.int8(2_000)])
            while let number = try cursor.next({ $0.integer(0) }) {
                sum += number
                largest = max(largest, cursor.heldBytes)
            }
            return (sum, connection.roundTrips - before, largest)
        }
        #expect(sum == 2_001_000)
        // 20 MB, in batches of about one.
        #expect((15...40).contains(trips), "\(trips) round trips")
        #expect(largest < 3 << 20, "\(largest) bytes")
    }

    @Test func rowsAfterAClosedCursorAreNotFetched() async throws {
        let (seen, trips, left) = try await onConnection { connection throws in
            try connection.run("BEGIN")
            let before = connection.roundTrips
            var seen = 0
            let cursor = try connection.cursor(QueryTests.numbers, [.int8(1_000_000)])
            while seen < 20, try cursor.next({ _ in true }) != nil { seen += 1 }
            cursor.close()
            let trips = connection.roundTrips - before
            return (seen, trips, try connection.first("SELECT count(*) FROM pg_cursors WHERE name <> ''") { $0.int(0) })
        }
        #expect(seen == 20 && trips == 2 && left == 0)
    }

    @Test func severalCursorsAreReadAlternately() async throws {
        let merged = try await onConnection { connection throws in
            connection.enqueue("BEGIN")
            let odd = try connection.cursor("SELECT n FROM generate_series(1, $1, 2) AS n", [.int8(99)])
            let even = try connection.cursor("SELECT n FROM generate_series(2, $1, 2) AS n", [.int8(100)])
            var merged: [Int64] = []
            while let one = try odd.next({ $0.integer(0) }), let two = try even.next({ $0.integer(0) }) {
                merged += [one, two]
                merged += try connection.all("SELECT $1::bigint WHERE false", [.int8(1)]) { $0.integer(0) }
            }
            try connection.run("COMMIT")
            return merged
        }
        #expect(merged == Array(1...100))
    }

    @Test func errorsOfACursorAreThrown() async throws {
        try await onConnection { connection throws in
            connection.enqueue("BEGIN")
            let error = #expect(throws: PostgresError.self) { try connection.cursor("SELECT nothing FROM nowhere") }
            #expect(error?.sqlState == "42P01")
            try connection.run("ROLLBACK")
            // A cursor requires a transaction.
            #expect(throws: PostgresError.self) { try connection.cursor(QueryTests.numbers, [.int8(100)]) }
            #expect(try connection.first("SELECT 8::bigint") { $0.integer(0) } == 8)
        }
    }
}
